#!/bin/bash
# usage: scale.sh N    N workers for @NAME@ from now on
# Workers beyond those of the job itself are jobs of one task; to have fewer, the youngest of these
# jobs are cancelled, and their workers give their splits back.
set -u
case ${1:-} in '' | *[!0-9]*) sed -n '2,4s/^# //p' "$0" >&2; exit 2 ;; esac
own=$(sed -n 1p @OUT@/started 2>/dev/null)
[ -n "$own" ] || { echo "@NAME@ does not run" >&2; exit 1; }
wanted=$(($1 > own ? $1 - own : 0))
mapfile -t jobs < <(squeue --noheader --user="$(id -un)" --name=@NAME@-worker --format=%A | sort -n)
for ((i = ${#jobs[@]}; i < wanted; ++i)); do sbatch --parsable @OUT@/worker.sbatch || exit 1; done
for ((i = wanted; i < ${#jobs[@]}; ++i)); do scancel "${jobs[$i]}" || exit 1; done
