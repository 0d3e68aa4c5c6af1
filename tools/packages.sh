#!/bin/sh
# Installs the Debian 12 packages that a purpose needs and that are missing.
# usage: tools/packages.sh build|test|lint|all [--check]
#   build  what the release build and a training run need      test  that, and what the tests need
#   lint   that, and clang, clang-tidy, clang-format           all   every one of them
# With --check nothing is installed. Exit 2 and the names when packages stay missing.
set -u

build="build-essential cmake ninja-build pkg-config libexpected-dev libcli11-dev libtomlplusplus-dev
  libspdlog-dev nlohmann-json3-dev zlib1g-dev libzstd-dev libxxhash-dev libtorch-dev libgloo-dev
  libopenblas0-pthread"
test="$build catch2 python3 zstd libcaf-dev"
lint="$test git clang-14 clang clang-tidy-14 clang-format-14 libclang-rt-14-dev"
case ${1:-} in
  build) wanted=$build ;;
  test) wanted=$test ;;
  lint | all) wanted=$lint ;;
  *) sed -n '2,6s/^# //p' "$0" >&2; exit 2 ;;
esac

missing_of() {
  for package in $wanted; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || printf '%s ' "$package"
  done
}

refuse() {
  echo "packages: $1; missing: $missing" >&2
  echo "packages: as root: apt-get install --no-install-recommends $missing" >&2
  exit 2
}

command -v dpkg-query >/dev/null || { missing=$(echo $wanted); refuse "this is no Debian system"; }
missing=$(missing_of)
[ -z "$missing" ] && exit 0
[ "${2:-}" = "--check" ] && refuse "not installed"

if [ "$(id -u)" = 0 ]; then
  as_root=""
elif command -v sudo >/dev/null; then
  as_root="sudo"
  sudo -n true 2>/dev/null || [ -t 0 ] || refuse "sudo would ask for a password and nobody is there to type it"
else
  refuse "neither root nor sudo"
fi
command -v apt-get >/dev/null || refuse "apt-get is missing"

# Waits for another apt or dpkg that is at work instead of failing.
apt() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" </dev/null
}
echo "packages: installing with apt-get (some minutes where libtorch is missing): $missing"
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086  # a list
if ! { apt update && apt install -y --no-install-recommends $missing; } >"$log" 2>&1; then
  tail -15 "$log" >&2
  missing=$(missing_of)
  refuse "apt-get did not install them"
fi
missing=$(missing_of)
[ -z "$missing" ] || refuse "apt-get left some out"
