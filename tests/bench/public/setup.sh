#!/bin/sh
# Installs what the comparisons with public loaders need into tests/bench/public/venv, by pip.
# usage: setup.sh pyarrow|polars|tensorflow|loaders|petastorm...    e.g. setup.sh pyarrow; nothing is installed
# without a name. loaders are those of tests/bench/python/peers.py, PyTorch among them: some GiB. petastorm needs
# older packages, and gets an environment of its own.
set -eu
cd "$(dirname "$0")"
[ $# -gt 0 ] || { sed -n '2,5s/^# //p' setup.sh >&2; exit 2; }
[ -x venv/bin/pip ] || python3 -m venv venv || {
  echo "setup: python3 cannot make a virtual environment (Debian: python3-venv)" >&2
  exit 2
}
for name; do
  case $name in
    pyarrow) venv/bin/pip install -q "pyarrow>=14" "numpy>=1.26" ;;
    polars) venv/bin/pip install -q "polars>=1.0" ;;
    tensorflow) venv/bin/pip install -q "tensorflow-cpu>=2.15" ;;
    loaders) venv/bin/pip install -q torch "pyarrow>=14" "numpy>=1.26" "ray[data]" datasets spdl aiohttp ;;
    petastorm)
      [ -x petastorm/bin/pip ] || python3 -m venv petastorm
      petastorm/bin/pip install -q petastorm "pyarrow<13" "numpy<2" "pandas<2" "setuptools<70"
      ;;
    *) echo "setup: no comparison is called $name" >&2; exit 2 ;;
  esac
  echo "setup: $name is in tests/bench/public"
done
