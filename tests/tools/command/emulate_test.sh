#!/bin/bash
# forebay emulate: its output and exit statuses: emulate_test.sh PATH/TO/forebay
set -u
forebay=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# expect STATUS PATTERN ARGUMENT…: exit status, and a pattern that stdout and stderr together hold.
expect() {
  local status=$1 pattern=$2 said got
  shift 2
  said=$("$forebay" emulate "$@" 2>&1)
  got=$?
  if [ "$got" -ne "$status" ] || ! grep -q -- "$pattern" <<<"$said"; then
    echo "forebay emulate $*: exit $got, wanted $status and \"$pattern\"; said: $said"
    failures=$((failures + 1))
  fi
}

# Two stages of 10 and 20 ms, one after the other on 8 CPUs: 100 splits/s for 2 actors in the second.
cat >"$folder/line.toml" <<'END'
name = "line"
cpus = 8
memory_bytes = 1000000000
base_bytes = 10000000
rows_per_split = 100
queue_splits = 4
[trainer]
step_seconds = 0.001
prefetch_splits = 4
[[stage]]
name = "load"
seconds = 0.01
bytes_per_actor = 1000000
bytes_out = 1000000
[[stage]]
name = "udf"
seconds = 0.02
bytes_per_actor = 1000000
bytes_out = 1000000
END
line="$folder/line.toml"

expect 0 'forebay emulate pipelines/random-2-0.toml' --help
expect 2 '^forebay: emulate needs one argument, PIPELINE'
expect 2 'none.toml' "$folder/none.toml"
expect 2 'uff' "$line" --allocation uff=2
expect 2 '^forebay: .*nearest' "$line" --policy greedi
expect 2 '^forebay: --period 2s: is a policy.s; name one' "$line" --period 2s
expect 2 '^forebay: --period 1ms: must be a time of at least 100ms' "$line" --policy max --period 1ms
expect 2 '^forebay: --seconds 0' "$line" --seconds 0

keys='"splits_per_second":[0-9.e+]*,"rows_per_second":.*,"oracle_splits_per_second":.*,"ratio":'
keys+='.*"allocation":{"load":1,"udf":2},.*"actors":3,"cpus_used":.*,"peak_memory_bytes":'
keys+='.*"out_of_memory":false,"starved_ratio":'
expect 0 "$keys" "$line" --allocation udf=2 --seconds 1 --json
expect 0 'of the oracle.s' "$line" --allocation oracle --seconds 1
expect 0 '"allocation":{"load":8,"udf":8},.*"policy":"max","decisions":[12],"decisions_guarded":0' \
  "$line" --policy max --period 500ms --seconds 1.2 --json
sed 's/^memory_bytes.*/memory_bytes = 20000000/' "$line" >"$folder/tight.toml"
expect 0 '"out_of_memory":true' "$folder/tight.toml" --allocation load=8,udf=8 --seconds 20 --json

# A world of two nodes, of which the second has a link for 10 splits a second.
{ cat "$line"; cat <<'END'
[[node]]
name = "n1"
cpus = 8
memory_bytes = 1000000000
trainer = true
[[node]]
name = "n2"
cpus = 8
memory_bytes = 1000000000
link_rate = 1.0e7
END
} >"$folder/world.toml"
world="$folder/world.toml"
keys='"allocation":{"n1.load":1,"n1.udf":2,"n2.load":1,"n2.udf":1},.*"best_known":true,'
keys+='"nodes":\[{"name":"n1","splits_per_second":.*"allocation":{"load":1,"udf":2},.*{"name":"n2"'
expect 0 "$keys" "$world" --allocation n1.udf=2 --seconds 1 --json
expect 0 '"policy":"even","decisions":[2-4],' "$world" --policy even --period 500ms --seconds 1.2 --json
expect 2 '^forebay: --allocation: 384 actors on 2 emulated nodes need' "$world" --allocation load=128,udf=64
expect 2 'n3.udf' "$world" --allocation n3.udf=2

# A stop: figures up to then, and 130.
for file in "$line" "$world"; do
  "$forebay" emulate "$file" --policy even --seconds 600 --json >"$folder/stopped" 2>"$folder/said" &
  emulation=$!
  sleep 1
  kill -INT "$emulation"
  wait "$emulation"
  status=$?
  if [ "$status" -ne 130 ] || ! tail -1 "$folder/stopped" | grep -q '"splits_per_second":'; then
    echo "a stopped emulation of $file: exit $status; said: $(cat "$folder/stopped" "$folder/said")"
    failures=$((failures + 1))
  fi
done

[ "$failures" -eq 0 ] && echo "emulate: ok"
exit "$failures"
