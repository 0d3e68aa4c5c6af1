#!/bin/bash
# usage: scale.sh N    N workers for @NAME@ from now on, on the slots of the file hosts
# Workers with the highest numbers are stopped first; they give their splits back.
set -u
case ${1:-} in '' | *[!0-9]*) sed -n '2,3s/^# //p' "$0" >&2; exit 2 ;; esac
. @OUT@/cluster.sh
trap close_connections EXIT
[ -e "$here/running" ] || { echo "$name: does not run" >&2; exit 1; }
mapfile -t places < <(hosts_of worker)
[ "$1" -le "${#places[@]}" ] || { echo "$name: $here/hosts has ${#places[@]} slots with role=worker" >&2; exit 1; }
for ((i = 1; i <= ${#places[@]}; ++i)); do
  host=${places[$((i - 1))]}
  runs=no
  [ -e "$here/worker-$i.host" ] && task "$host" alive "worker-$i" && runs=yes
  if [ "$i" -le "$1" ] && [ "$runs" = no ]; then
    read -r trainer _ <"$here/running"
    address=$(task "$trainer" address "$address_file") || exit 1
    prepare "$host" && start_worker "$i" "$host" "$address" && echo "$host" >"$here/worker-$i.host" || exit 1
  elif [ "$i" -gt "$1" ] && [ "$runs" = yes ]; then
    task "$host" stop "worker-$i" "$grace"
    fetch "$host" "worker-$i"
    rm -f "$here/worker-$i.host"
  fi
done
