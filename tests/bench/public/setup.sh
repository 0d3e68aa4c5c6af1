#!/bin/sh
# Installs what the comparisons with public loaders need into tests/bench/public/venv, by pip.
# usage: setup.sh pyarrow|tensorflow...    e.g. setup.sh pyarrow; nothing is installed without a name
set -eu
cd "$(dirname "$0")"
[ $# -gt 0 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
[ -x venv/bin/pip ] || python3 -m venv venv || {
  echo "setup: python3 cannot make a virtual environment (Debian: python3-venv)" >&2
  exit 2
}
for name; do
  case $name in
    pyarrow) venv/bin/pip install -q "pyarrow>=14" "numpy>=1.26" ;;
    tensorflow) venv/bin/pip install -q "tensorflow-cpu>=2.15" ;;
    *) echo "setup: no comparison is called $name" >&2; exit 2 ;;
  esac
  echo "setup: $name is in tests/bench/public/venv"
done
