#!/bin/sh
# Builds everything and runs every test: installs what is missing from Debian 12 (apt-get, as root
# or by sudo), builds the preset `release` into build/release, runs ctest. Can be run again at any
# time; only what changed is built. Names skipped tests; the last line is "N passed, N failed".
# usage: tools/test.sh [ctest option...]    e.g. -L core, -R "a head"
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) sed -n '2,5s/^# //p' "$0"; exit 0 ;; esac

echo "test: 1/3 packages"
tools/packages.sh test
echo "test: 2/3 build (build/release)"
tools/build.sh release -DFOREBAY_TESTS=ON
echo "test: 3/3 ctest"
status=0
# End-to-end tests wait more than they compute: one more at a time than there are CPUs.
ctest --test-dir build/release --output-on-failure --no-tests=error -j "$(($(nproc) + 1))" "$@" </dev/null || status=$?
tools/test_summary.py build/release
exit $status
