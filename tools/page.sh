#!/bin/sh
# Packs the page of a run (engine/dashboard/page/src) into engine/dashboard/page/page.html, which the build takes as it
# is: Node.js and npm are needed only to change the page. The packages' versions are those of package-lock.json; they are
# kept in build/page, with those that the page's tests use. Can be run again at any time.
# usage: tools/page.sh [--check|--tools]    --check: fails when page.html is another one than its sources make
#                                           --tools: installs the packages alone and prints their folder
set -eu
cd "$(dirname "$0")/.."
source=$PWD/engine/dashboard/page
place=$PWD/build/page
for program in node npm; do
  command -v "$program" >/dev/null || { echo "page.sh: $program is missing (Debian: nodejs, npm)" >&2; exit 2; }
done
mkdir -p "$place"
if ! cmp -s "$source/package-lock.json" "$place/installed"; then
  rm -rf "$place/installed" "$place/node_modules"
  cp "$source/package.json" "$source/package-lock.json" "$place"
  (cd "$place" && npm ci --no-audit --no-fund --silent >&2)
  cp "$source/package-lock.json" "$place/installed"
fi
[ "${1:-}" = --tools ] && { echo "$place"; exit 0; }
cd "$place"
if [ "${1:-}" = --check ]; then
  node "$source/pack.mjs" "$place/page.html"
  cmp "$place/page.html" "$source/page.html" || { echo "page.sh: page.html is not what src makes; run tools/page.sh" >&2; exit 1; }
else
  node "$source/pack.mjs" "$source/page.html"
fi
