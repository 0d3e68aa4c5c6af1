#!/bin/bash
# usage: stop.sh    stops @NAME@ in order: the trainer saves its state, start.sh ends after it
set -u
. @OUT@/cluster.sh
trap close_connections EXIT
[ -e "$here/running" ] || { echo "$name: does not run" >&2; exit 0; }
read -r trainer _ <"$here/running"
task "$trainer" stop trainer "$grace"
