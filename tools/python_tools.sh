#!/bin/sh
# Makes build/python-tools, a virtual environment with the tests' packages from PyPI:
# kubernetes-validate, which contains the schemas of the Kubernetes API, tensorboard, which reads a
# run's logs, and moto, a server of S3. Can be run again at any time. Prints the path of its python.
# usage: tools/python_tools.sh
set -eu
cd "$(dirname "$0")/.."
place=$PWD/build/python-tools
wanted="kubernetes-validate==1.37.0 tensorboard==2.21.0 moto[server]==5.2.5"
if [ "$(cat "$place/installed" 2>/dev/null)" != "$wanted" ]; then
  mkdir -p build
  rm -rf "$place"
  python3 -m venv "$place" >&2
  # shellcheck disable=SC2086  # a list
  "$place/bin/python" -m pip install --quiet --disable-pip-version-check $wanted >&2
  echo "$wanted" >"$place/installed"
fi
echo "$place/bin/python"
