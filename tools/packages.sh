#!/bin/sh
# Installs the Debian 12 packages that a purpose needs and that are missing.
# usage: tools/packages.sh build|test|lint|all [--check]
#   build  what the release build and a training run need      test  that, and what the tests need
#   lint   that, and clang, clang-tidy, clang-format           all   every one of them
# With --check nothing is installed. Exit 2 and the names when packages stay missing.
set -u

build="build-essential cmake ninja-build pkg-config libexpected-dev libcli11-dev libtomlplusplus-dev
  libspdlog-dev nlohmann-json3-dev zlib1g-dev libzstd-dev libxxhash-dev libcurl4-openssl-dev libexpat1-dev libssl-dev libtorch-dev libgloo-dev
  libopenblas0-pthread libzmq3-dev cppzmq-dev librocksdb-dev liblz4-dev
  libsnappy-dev libbrotli-dev prometheus-cpp-dev libcivetweb-dev"
test="$build catch2 python3 python3-dev python3-matplotlib python3-venv prometheus zstd libcaf-dev libmsgpack-cxx-dev iproute2 slurm-wlm munge openssh-server
  openssh-client"
optional=""  # Tests that need them are skipped without them.
lint="$test git lld clang-14 clang clang-tidy-14 clang-format-14 libclang-rt-14-dev shellcheck"
case ${1:-} in
  build) wanted=$build ;;
  test) wanted=$test optional="python3-torch chromium" ;;
  lint | all) wanted=$lint optional="python3-torch chromium" ;;
  *) sed -n '2,6s/^# //p' "$0" >&2; exit 2 ;;
esac

missing_of() {  # PACKAGE...
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || printf '%s ' "$package"
  done
}

refuse() {
  [ -z "$missing" ] && exit 0  # Only wishes are.
  echo "packages: $1; missing: $missing" >&2
  echo "packages: as root: apt-get install --no-install-recommends $missing" >&2
  exit 2
}

# shellcheck disable=SC2086,SC2116  # a list, on one line
command -v dpkg-query >/dev/null || { missing=$(echo $wanted); refuse "this is no Debian system"; }
# shellcheck disable=SC2086  # a list
missing=$(missing_of $wanted)
# shellcheck disable=SC2086  # a list
wished=$(missing_of $optional)
[ -z "$missing$wished" ] && exit 0
[ -z "$missing" ] && [ "${2:-}" = "--check" ] && exit 0
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

# Waits for another running apt or dpkg instead of failing.
apt() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" </dev/null
}
echo "packages: installing with apt-get (some minutes where libtorch is missing): $missing$wished"
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086  # lists
if ! { apt update && { [ -z "$missing" ] || apt install -y --no-install-recommends $missing; }; } >"$log" 2>&1 &&
  [ -n "$missing" ]; then
  tail -15 "$log" >&2
  missing=$(missing_of $wanted)
  refuse "apt-get did not install them"
fi
# shellcheck disable=SC2086  # lists
missing=$(missing_of $wanted)
[ -z "$missing" ] || refuse "apt-get left some out"
# shellcheck disable=SC2086  # lists
[ -z "$wished" ] || apt install -y --no-install-recommends $wished >"$log" 2>&1 ||
  echo "packages: without $wished, which apt-get did not install, some tests are skipped"
