#!/bin/bash
# What the program says and how it exits: cli_test.sh PATH/TO/forebay
set -u
forebay=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# expect STATUS PATTERN ARGUMENT…: exit status, and a pattern that stdout and stderr together hold.
expect() {
  local status=$1 pattern=$2 said got
  shift 2
  said=$("$forebay" "$@" 2>&1)
  got=$?
  if [ "$got" -ne "$status" ] || ! grep -q -- "$pattern" <<<"$said"; then
    echo "forebay $*: exit $got, wanted $status and \"$pattern\"; said: $said"
    failures=$((failures + 1))
  fi
}

expect 0 'usage: forebay COMMAND' help
expect 0 'forebay ingest job.toml' ingest --help
expect 0 'libtorch' --version
expect 0 'complete -o filenames -F _forebay forebay' completion bash
expect 0 'compdef forebay' completion zsh
expect 0 '__fish_use_subcommand' completion fish
expect 2 'no such shell' completion tcsh
expect 2 '^forebay: name a command'
expect 2 '^forebay: unknown command idnex; did you mean index?' idnex
expect 2 '^forebay: index: unknown option --jsn; did you mean --json?' index job.toml --jsn
expect 2 '^forebay: index needs one argument, JOB' index
expect 2 '^forebay: worker is not in this version' worker --join x:1
expect 2 '^forebay: job file .*: No such file' index "$folder/none.toml"
expect 2 'is a folder' index "$folder"

expect 2 '^forebay: synth needs --rows' synth criteo --out "$folder/data"
expect 2 '^forebay: --rows must be from 1' synth criteo --rows 0 --out "$folder/data"
expect 2 '^forebay: --rows x: must be a whole number' synth criteo --rows x --out "$folder/data"
expect 0 '"rows":3000,.*"files":2,"best_auc":0\.' \
  synth criteo --rows 3000 --files 2 --seed 7 --out "$folder/data" --json
expect 2 'day_0.tsv is there already' synth criteo --rows 10 --out "$folder/data"
expect 0 'rows' synth criteo --rows 3000 --files 1 --seed 7 --out "$folder/whole"
cat "$folder"/data/day_*.tsv | cmp - "$folder/whole/day_0.tsv" || failures=$((failures + 1))

printf '[dataset]\npaths = ["data/*.tsv"]\n' >"$folder/job.toml"
expect 0 '"files":2,"blocks":[0-9]*,"rows":3000' index "$folder/job.toml" --json
expect 2 'order.epochs is 0, but must be' index "$folder/job.toml" --set order.epochs=0
expect 0 'tuner.policy has no effect yet' index "$folder/job.toml" --set tuner.policy=x

[ "$failures" -eq 0 ] && echo "cli: ok"
exit "$failures"
