#!/bin/bash
# Configures and builds one preset into build/PRESET, several files at a time (FOREBAY_UNITY), which
# takes half the time from nothing, and with ccache if it is installed, else with precompiled headers;
# links by lld where it is installed.
# usage: tools/build.sh release|dev|tsan [cmake option...] [-- target...]    e.g. -DFOREBAY_UNITY=OFF
# Without targets tsan builds the test programs, the others everything.
set -eu
cd "$(dirname "$0")/.."
preset=${1:?usage: tools/build.sh PRESET [cmake option...] [-- target...]}
shift
options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  options+=("$1")
  shift
done
[ $# = 0 ] || shift
[ $# -gt 0 ] || [ "$preset" != tsan ] || set -- test_programs
[ $# -gt 0 ] || set -- all
launcher="-DFOREBAY_PCH=ON"
command -v ccache >/dev/null && [ -z "${CCACHE_DISABLE:-}" ] && launcher="-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"

# Most of a test program is static libraries, with a sanitizer 200 MB, which lld links in a quarter of the time.
command -v ld.lld >/dev/null && options+=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld)

# GCC 12's thread sanitizer cannot place its shadow memory if addresses are fully randomised, and
# the build runs the test programs to list their cases.
fixed=""
[ "$preset" = tsan ] && setarch "$(uname -m)" -R true 2>/dev/null && fixed="setarch $(uname -m) -R"

cmake --preset "$preset" -DFOREBAY_UNITY=ON $launcher "${options[@]}" </dev/null
$fixed cmake --build "build/$preset" --target "$@" </dev/null
