#!/bin/sh
# From a bare Debian 12 to a trained model: installs what is missing (apt-get, as root or by sudo),
# builds the preset `release` into build/release, and trains a click model on the Open Bandit
# sample in examples/open_bandit. Can be run again: it builds what changed and trains anew.
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) sed -n '2,4s/^# //p' "$0"; exit 0 ;; esac

echo "quickstart: 1/3 packages from Debian that are missing"
tools/packages.sh build
echo "quickstart: 2/3 building (build/release; some minutes the first time)"
tools/build.sh release -DFOREBAY_TESTS=OFF
echo "quickstart: 3/3 training on examples/open_bandit: 20,000 impressions of a fashion shop, real clicks"
build/release/tools/forebay train examples/open_bandit/job.toml --restart </dev/null

echo "quickstart: done. The model is in examples/open_bandit/checkpoints; the index and quarantine"
echo "quickstart: file in examples/open_bandit/.forebay; the program is build/release/tools/forebay."
echo "quickstart: next: build/release/tools/forebay help, or edit examples/open_bandit/job.toml"
