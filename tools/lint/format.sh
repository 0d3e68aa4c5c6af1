#!/bin/sh
# Lists the C++ files that clang-format 14 would change; `--fix` rewrites them.
cd "$(dirname "$0")/../.." || exit 2
format=$(command -v clang-format-14 || command -v clang-format) || {
  echo "clang-format 14 is missing (Debian: clang-format-14)" >&2
  exit 2
}
if [ "${1:-}" = "--fix" ]; then
  git ls-files -co --exclude-standard -- '*.h' '*.cpp' | xargs "$format" -i
  exit
fi
wrong=$(git ls-files -co --exclude-standard -- '*.h' '*.cpp' | xargs "$format" --dry-run 2>&1 |
  sed -nE 's/^([^:]+):[0-9]+:.*/\1/p' | sort | uniq -c)
[ -z "$wrong" ] && echo "format: ok" && exit 0
echo "$wrong" | sed 's/^ *\([0-9]*\) \(.*\)/\2: \1 places; tools\/lint\/format.sh --fix/'
exit 1
