#!/bin/sh
# Runs every linter and lists at the end which of them passed.
# usage: tools/lint/run.sh [--no-tidy]    without tidy and headers, which read
# build/release/compile_commands.json
cd "$(dirname "$0")/../.." || exit 2
failed="" passed=""

check() {
  name=$1
  shift
  echo "== $name"
  if "$@"; then passed="$passed $name"; else failed="$failed $name"; fi
}

check layers python3 tools/lint/layers.py
check includes python3 tools/lint/includes.py
check names python3 tools/lint/names.py
check words python3 tools/lint/words.py
check dialect python3 tools/lint/dialect.py
check links python3 tools/lint/links.py
check shell tools/lint/shell.sh
check format tools/lint/format.sh
if [ "${1:-}" != "--no-tidy" ]; then
  [ -f build/release/compile_commands.json ] || cmake --preset release >/dev/null
  check tidy python3 tools/lint/tidy.py
  check headers python3 tools/lint/headers.py
fi

echo "lint: passed:${passed:- none}; failed:${failed:- none}"
[ -z "$failed" ]
