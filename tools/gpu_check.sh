#!/usr/bin/env bash
# Builds Forebay against the libtorch of an installed PyTorch, and checks training on this machine's GPU.
# usage: tools/gpu_check.sh [OPTION…]             builds into build/gpu, and checks (options: tests/bench/gpu_check.py)
#        tools/gpu_check.sh --pack FILE.tar.gz    builds, and packs what the check needs, for a machine without compilers
#                                                 and packages: its PyTorch must have the same version
#        tools/gpu_check.sh --packed FILE.tar.gz [OPTION…]   checks with such a package, on the machine with the GPU
# PYTHON names the python3 whose PyTorch is used. Ends in one table; exit 1 if a check does not hold.
set -eu
case ${1:-} in --help | -h) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
python=${PYTHON:-python3}
torch=$("$python" -c 'import torch; print(torch.__path__[0])' 2>/dev/null) || {
  echo "gpu_check: $python has no PyTorch; name one that has: PYTHON=/path/to/python3 $0" >&2
  exit 2
}
version=$(sed -n "s/^__version__ = '\([^+']*\).*/\1/p" "$torch/version.py")
programs=(tools/forebay trainer/torch/libforebay_trainer.so tests/trainer/torch/trainer_torch_test
          tests/trainer/torch/trainer_module_test tests/bench/device_copies)

build() {
  cmake --preset release -B build/gpu -DFOREBAY_UNITY=ON "-DFOREBAY_LIBTORCH=$torch" >/dev/null
  cmake --build build/gpu --target forebay forebay_trainer trainer_torch_test trainer_module_test device_copies
}

# Leaves out what every Linux has, and what PyTorch brings.
libraries() {
  for program in "${programs[@]}"; do ldd "build/gpu/$program"; done | awk '$3 ~ /^\// { print $3 }' | sort -u |
    grep -v -e "^$torch/" -e /nvidia/ -e '/lib\(c\|m\|dl\|rt\|util\|resolv\|pthread\|stdc++\|gcc_s\|gomp\)\.so'
}

pack() {  # FILE
  local folder
  folder=$(mktemp -d)
  for program in "${programs[@]}"; do
    install -D -s "build/gpu/$program" "$folder/forebay-gpu/$program"
  done
  mkdir "$folder/forebay-gpu/lib"
  libraries | xargs -I{} cp -L {} "$folder/forebay-gpu/lib"
  cp tests/bench/gpu_check.py "$folder/forebay-gpu"
  echo "$version" >"$folder/forebay-gpu/torch_version"
  tar -C "$folder" -czf "$1" forebay-gpu
  rm -r "$folder"
  echo "gpu_check: $1 is for PyTorch $version; there: tools/gpu_check.sh --packed $1"
}

check() {  # FOLDER CHECK.PY [OPTION…]
  local folder=$1 program=$2
  shift 2
  echo "gpu_check: PyTorch $version; $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null |
    head -1 || true); $(nproc) CPUs"
  "$python" "$program" --build "$folder" --libraries "$folder/lib:$torch/lib" "$@"
}

case ${1:-} in
  --packed)
    package=${2:?usage: tools/gpu_check.sh --packed FILE.tar.gz}
    shift 2
    unpacked=$(mktemp -d)
    trap 'rm -rf "$unpacked"' EXIT
    tar -C "$unpacked" -xzf "$package"
    [ "$(cat "$unpacked/forebay-gpu/torch_version")" = "$version" ] || {
      echo "gpu_check: $package is for PyTorch $(cat "$unpacked/forebay-gpu/torch_version"), and $python has $version" >&2
      exit 2
    }
    check "$unpacked/forebay-gpu" "$unpacked/forebay-gpu/gpu_check.py" "$@"
    ;;
  --pack)
    file=$(realpath "${2:?usage: tools/gpu_check.sh --pack FILE.tar.gz}")
    cd "$(dirname "$0")/.."
    build
    pack "$file"
    ;;
  *)
    cd "$(dirname "$0")/.."
    build
    check build/gpu tests/bench/gpu_check.py "$@"
    ;;
esac
