#!/bin/sh
# Runs tests of the Python package with an extension module that AddressSanitizer and UBSan watch: python/src is compiled
# anew, on the loader's archive of the release build; PyMalloc is off, so that Python's own objects are watched, too.
# Needs what tools/python.sh has built; makes build/python/asan. Can be run again at any time.
# usage: tools/python_asan.sh [TEST[:CLASS]...]    e.g. tools/python_asan.sh position loader:Loops
set -eu
cd "$(dirname "$0")/.."
top=$PWD
place=$top/build/python
asan=$place/asan
[ $# -gt 0 ] || set -- arrays loader:Loops loader:Failures
[ -x "$place/env/bin/python" ] || { echo "python_asan: no wheel in $place; run tools/python.sh first" >&2; exit 2; }

flags="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1 -g1"
launcher=""
command -v ccache >/dev/null && launcher="-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
PATH=$place/tools/bin:$PATH
# shellcheck disable=SC2086  # an option, or none
cmake -G Ninja -S python -B "$asan/build" -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_PREFIX_PATH="$place/prefix" \
  -DPython_EXECUTABLE="$place/tools/bin/python" $launcher >"$asan.log" || { tail -20 "$asan.log" >&2; exit 1; }
ninja -C "$asan/build" >>"$asan.log" || { tail -20 "$asan.log" >&2; exit 1; }

wheel=$(ls "$place"/dist/forebay-*.whl)
if [ "$(cat "$asan/made" 2>/dev/null)" != "$(cat "$place/made")" ]; then
  rm -rf "$asan/env" "$asan/made"
  "$place/tools/bin/python" -m venv "$asan/env" >&2
  "$asan/env/bin/python" -m pip install --quiet --disable-pip-version-check --no-index "$wheel" >&2
  ln -sfn "$place/tools" "$asan/tools"
  cp "$place/made" "$asan/made"
fi
cp "$asan"/build/_core*.so "$asan"/env/lib/python*/site-packages/forebay/

# The program, which the tests compare with, is not watched: it bounds its memory, which the sanitizer multiplies.
printf '#!/bin/sh\nunset LD_PRELOAD\nexec "%s" "$@"\n' "${FOREBAY_BIN:-$top/build/release/tools/forebay}" >"$asan/forebay"
chmod +x "$asan/forebay"
FOREBAY_BIN=$asan/forebay
FOREBAY_SOURCE=$top
FOREBAY_PYTHON_PLACE=$asan
# The interpreter is not instrumented: the sanitizer's library has to be there before it. Python keeps objects to its end.
LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so) $(g++ -print-file-name=libstdc++.so)"
ASAN_OPTIONS=detect_leaks=0:halt_on_error=1
PYTHONMALLOC=malloc
export FOREBAY_BIN FOREBAY_SOURCE FOREBAY_PYTHON_PLACE ASAN_OPTIONS PYTHONMALLOC LD_PRELOAD
cd tests/python
for test; do
  echo "== $test"
  class=${test#"${test%%:*}"}
  # shellcheck disable=SC2086  # a class, or all of them
  "$asan/env/bin/python" -B "${test%%:*}_test.py" ${class#:}
done
