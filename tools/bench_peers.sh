#!/bin/sh
# Compares Forebay with programs that nobody here wrote. Each is installed when its name is given,
# into build/ or, public loaders, into tests/bench/public/venv; neither the build nor the tests need any.
#   moto, versitygw   servers of S3: jobs whose data lies there (tests/e2e/foreign_stores_test.py).
#                     versitygw is made with Go, from its module proxy: a minute on two cores
#   pyarrow           forebay bench parquet beside it
#   polars            forebay bench store beside it
#   loaders           tests/bench/python/peers.py: DataLoader with pyarrow, Ray Data, SPDL, datasets; some GiB
#   petastorm         the same with petastorm, on Parquet
#   store             forebay bench store, beside a plain receive loop: installs nothing
# usage: tools/bench_peers.sh NAME...|all   e.g. tools/bench_peers.sh moto versitygw
# FOREBAY_BIN: the program (build/release/tools/forebay); FOREBAY_BENCH_OPTIONS: of the benches, such
# as "--rows 200000 --rounds 3"
set -eu
cd "$(dirname "$0")/.."
versitygw=v1.8.0
peers=$PWD/build/peers
FOREBAY_BIN=${FOREBAY_BIN:-$PWD/build/release/tools/forebay}
FOREBAY_SOURCE=$PWD
export FOREBAY_BIN FOREBAY_SOURCE
[ $# -gt 0 ] || { sed -n '2,14s/^# //p' tools/bench_peers.sh >&2; exit 2; }
[ -x "$FOREBAY_BIN" ] || { echo "bench_peers: $FOREBAY_BIN is not there; build it, or set FOREBAY_BIN" >&2; exit 2; }

# Runs the jobs against one server; a server that is missing fails here.
conformance() {  # CLASS
  (cd tests/e2e && python3 -B foreign_stores_test.py "$1")
}

bench() {
  # shellcheck disable=SC2086  # a list
  "$FOREBAY_BIN" bench "$@" ${FOREBAY_BENCH_OPTIONS:-}
}

peer_moto() {
  FOREBAY_STORE_PYTHON=$(tools/python_tools.sh)
  export FOREBAY_STORE_PYTHON
  conformance Moto
}

peer_versitygw() {
  if [ "$(cat "$peers/versitygw" 2>/dev/null)" != "$versitygw" ]; then
    command -v go >/dev/null || { echo "bench_peers: versitygw needs Go (Debian: golang-go)" >&2; return 2; }
    mkdir -p "$peers"
    GOPATH=$peers/go GOBIN=$peers/bin GOFLAGS=-modcacherw \
      go install "github.com/versity/versitygw/cmd/versitygw@$versitygw"
    rm -rf "$peers/go"
    echo "$versitygw" >"$peers/versitygw"
  fi
  FOREBAY_VERSITYGW=$peers/bin/versitygw
  export FOREBAY_VERSITYGW
  conformance VersityGateway
}

# Measures one of the benches beside a public loader.
beside() {  # LOADER BENCH
  tests/bench/public/setup.sh "$1" && bench "$2" --public tests/bench/public
}

# Measures a Python loop beside public loaders; the wheel has to be there (tools/python.sh).
python_loaders() {  # LOADERS FORMAT
  # shellcheck disable=SC2086  # a list
  tests/bench/public/setup.sh "$1" && python3 tests/bench/python/peers.py --format "$2" ${FOREBAY_BENCH_OPTIONS:-}
}

[ "$1" != all ] || set -- moto versitygw pyarrow store
status=0
for name; do
  echo "== $name"
  case $name in
    moto) peer_moto || status=1 ;;
    versitygw) peer_versitygw || status=1 ;;
    pyarrow) beside pyarrow parquet || status=1 ;;
    polars) beside polars store || status=1 ;;
    loaders) python_loaders loaders text && python_loaders loaders parquet || status=1 ;;
    petastorm) python_loaders petastorm parquet || status=1 ;;
    store) bench store || status=1 ;;
    *) echo "bench_peers: no peer is called $name" >&2; exit 2 ;;
  esac
done
exit $status
