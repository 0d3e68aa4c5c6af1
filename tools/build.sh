#!/bin/sh
# Configures and builds one preset into build/PRESET, several files at a time (FOREBAY_UNITY), which
# takes half the time from nothing, and with ccache if it is installed.
# usage: tools/build.sh release|dev|tsan [cmake option...]    e.g. -DFOREBAY_UNITY=OFF
# tsan builds the test programs only.
set -eu
cd "$(dirname "$0")/.."
preset=${1:?usage: tools/build.sh PRESET [cmake option...]}
shift
launcher=""
command -v ccache >/dev/null && launcher="-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"

# GCC 12's thread sanitizer cannot place its shadow memory if addresses are fully randomised, and
# the build runs the test programs to list their cases.
fixed=""
[ "$preset" = tsan ] && setarch "$(uname -m)" -R true 2>/dev/null && fixed="setarch $(uname -m) -R"

cmake --preset "$preset" -DFOREBAY_UNITY=ON $launcher "$@" </dev/null
target=all
[ "$preset" = tsan ] && target=test_programs
$fixed cmake --build "build/$preset" --target "$target" </dev/null
