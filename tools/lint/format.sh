#!/bin/sh
# Checks the format of every C++ file with the clang-format of Debian 12; `--fix` rewrites them.
cd "$(dirname "$0")/../.." || exit 2
format=$(command -v clang-format-14 || command -v clang-format) || {
  echo "clang-format 14 is missing (Debian: clang-format-14)" >&2
  exit 2
}
mode="--dry-run --Werror"
[ "${1:-}" = "--fix" ] && mode=-i
git ls-files -co --exclude-standard -- '*.h' '*.cpp' | xargs "$format" $mode || exit 1
echo "format: ok"
