#!/bin/sh
# usage: scale.sh N    N workers for @NAME@ from now on
case ${1:-} in '' | *[!0-9]*) sed -n '2s/^# //p' "$0" >&2; exit 2 ;; esac
exec kubectl patch job/@NAME@-workers --type merge --patch "{\"spec\":{\"parallelism\":$1}}"
