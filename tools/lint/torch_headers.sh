#!/usr/bin/env bash
# Compiles trainer/torch with the headers of another libtorch, without output.
# usage: tools/lint/torch_headers.sh DIR [INCLUDE…]
#   DIR      has include/torch: an unpacked libtorch, or site-packages/torch of a PyTorch wheel
#   INCLUDE  folders with more headers; with cuda_runtime_api.h and nccl.h among them, as in the
#            wheels nvidia-cuda-runtime and nvidia-nccl, the NCCL code is compiled, too
set -u
cd "$(dirname "$0")/../.." || exit 2
dir=${1:?usage: tools/lint/torch_headers.sh DIR [INCLUDE…]}
shift
[ -d "$dir/include/torch" ] || { echo "torch_headers: $dir has no include/torch" >&2; exit 2; }

flags=(-std=c++20 -fsyntax-only -fopenmp -ffp-contract=off -Wall -Wextra -Wshadow -Wconversion
       -Wnon-virtual-dtor -Wdeprecated-declarations -Werror -I. -isystem "$dir/include"
       -isystem "$dir/include/torch/csrc/api/include" -DUSE_DISTRIBUTED -DUSE_C10D_GLOO)
cuda="" nccl=""
for include in "$@"; do
  flags+=(-isystem "$include")
  [ -e "$include/cuda_runtime_api.h" ] && cuda=yes
  [ -e "$include/nccl.h" ] && nccl=yes
done
[ -n "$cuda" ] && [ -n "$nccl" ] && flags+=(-DFOREBAY_NCCL -DUSE_C10D_NCCL)

failed=0
for file in trainer/torch/*.cpp; do
  "${CXX:-c++}" "${flags[@]}" "$file" || { echo "torch_headers: $file does not compile" >&2; failed=1; }
done
version=$(sed -n 's/^#define TORCH_VERSION_M[AI][JN]OR //p' \
  "$dir/include/torch/csrc/api/include/torch/version.h" "$dir/include/torch/version.h" 2>/dev/null | paste -sd.)
[ $failed = 0 ] && echo "torch_headers: trainer/torch compiles against libtorch ${version:-of $dir}${nccl:+, NCCL included}"
exit $failed
