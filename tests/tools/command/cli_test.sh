#!/bin/bash
# The program's output and exit statuses: cli_test.sh PATH/TO/forebay
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
expect 0 'usage: forebay COMMAND' help --help
expect 0 'forebay ingest job.toml' ingest --help
expect 2 '^forebay: unknown command nope; see forebay help$' help nope
expect 2 '^forebay: convert: --sort needs a value, ' convert job.toml --out x --sort
expect 0 'libtorch' --version
expect 0 'complete -o filenames -F _forebay forebay' completion bash
expect 0 'compdef forebay' completion zsh
expect 0 '__fish_use_subcommand' completion fish
expect 2 'no such shell' completion tcsh
expect 2 '^forebay: name a command'
expect 2 '^forebay: unknown command idnex; did you mean index?' idnex
expect 2 '^forebay: index: unknown option --jsn; did you mean --json?' index job.toml --jsn
expect 2 '^forebay: index needs one argument, JOB' index
expect 2 '^forebay: export needs --out FILE' export checkpoints
expect 2 '^forebay: --out /dev/null: not a regular file' tune pretrain --out /dev/null
expect 2 '^forebay: checkpoints: there is no such folder' export checkpoints --out model.pt
expect 2 'address x:1 can be reached from other machines and no keys are given: .*--keys of a head or worker' worker --join x:1
expect 2 '^forebay: job file .*: No such file' index "$folder/none.toml"
expect 2 'is a folder' index "$folder"
expect 2 '^forebay: --memory 1: must be a size such as 512MiB, from 1 MiB to' \
  worker --join 127.0.0.1:1 --memory 1

expect 2 '^forebay: synth needs --rows' synth criteo --out "$folder/data"
expect 2 '^forebay: --rows must be from 1' synth criteo --rows 0 --out "$folder/data"
expect 2 '^forebay: --seed 9223372036854775808: must be a whole number from 0 to 9223372036854775807$' \
  synth criteo --rows 1 --seed 9223372036854775808 --out "$folder/data"
expect 2 '^forebay: --rows x: must be a whole number' synth criteo --rows x --out "$folder/data"
expect 0 '"rows":3000,.*"files":2,"best_auc":0\.' \
  synth criteo --rows 3000 --files 2 --seed 7 --out "$folder/data" --json
expect 2 'day_0.tsv is there already' synth criteo --rows 10 --out "$folder/data"
expect 0 'rows' synth criteo --rows 3000 --files 1 --seed 7 --out "$folder/whole"
cat "$folder"/data/day_*.tsv | cmp - "$folder/whole/day_0.tsv" || failures=$((failures + 1))

pipeline=$(dirname "$0")/../../tuner/pipelines/memory-tight.toml
expect 0 'forebay simulate pipelines/random-1-0.toml --allocation oracle' simulate --help
expect 0 '"ratio":0.99.*"allocation":{"load":4,"decode":6,"shuffle":2,"udf":12,"batch":2}.*"out_of_memory":false' \
  simulate "$pipeline" --allocation oracle --seconds 200 --json
expect 0 '"out_of_memory":true' simulate "$pipeline" --allocation udf=32 --seconds 200 --json
expect 0 'OUT OF MEMORY' simulate "$pipeline" --allocation udf=32
expect 2 '^forebay: --allocation udf=0: must be a whole number from 1 to 128' \
  simulate "$pipeline" --allocation udf=0
expect 2 'no such stage; did you mean udf?' simulate "$pipeline" --allocation ufd=2
expect 2 '^forebay: --prefetch 0: must be' simulate "$pipeline" --prefetch 0
expect 2 '^forebay: --seconds -1: must be' simulate "$pipeline" --seconds=-1
expect 2 '^forebay: --seconds 1e9: must be a time such as 600 or 10m, above 0 and at most 100 years' \
  simulate "$pipeline" --seconds 1e9
expect 2 '^forebay: pipeline file .*none.toml: No such file' simulate "$folder/none.toml"
sed 's/cpus = 32/cpus = 0/' "$pipeline" >"$folder/bad.toml"
expect 2 'bad.toml, line 4: cpus is 0, but must be a number from 1 to 65536' simulate "$folder/bad.toml"
expect 0 '"files":3' synth pipelines --count 3 --seed 5 --events --out "$folder/random" --json
expect 2 'random-5-0.toml is there already' synth pipelines --count 3 --seed 5 --out "$folder/random"
expect 2 'synth pipelines needs --count N and --out DIR' synth pipelines
expect 0 'of the oracle' simulate "$folder/random/random-5-2.toml" --allocation oracle

# A failed write of weights leaves the old ones, and no file beside them.
printf 'FBINTUN1' >"$folder/kept.weights"
(
  ulimit -f 4
  expect 1 '^forebay: .*kept.weights.* File too large' \
    tune pretrain --out "$folder/kept.weights" --rounds 1 --pipelines 1
  exit "$failures"
) || failures=$((failures + 1))
[ "$(cat "$folder"/kept.weights*)" = FBINTUN1 ] || failures=$((failures + 1))

printf '[dataset]\npaths = ["data/*.tsv"]\n' >"$folder/job.toml"
expect 0 '"files":2,"blocks":[0-9]*,"rows":3000' index "$folder/job.toml" --json
expect 2 'order.epochs is 0, but must be' index "$folder/job.toml" --set order.epochs=0
expect 2 'no worker can join; set cluster.listen' index "$folder/job.toml" --set cluster.local=false

# index holds the job's folder while it works, and distinguishes damage from wrong usage.
expect 0 'forebay index job.toml' index --help
(
  flock 9
  expect 2 'is in use by process' index "$folder/job.toml"
  exit "$failures"
) 9>>"$folder/.forebay/lock" || failures=$((failures + 1))
mkdir "$folder/cut"
gzip -c "$folder/whole/day_0.tsv" | head -c 100000 >"$folder/cut/day.tsv.gz"
printf '[dataset]\npaths = ["cut/*"]\n' >"$folder/cut.toml"
expect 1 '^forebay: .*day.tsv.gz' index "$folder/cut.toml"

printf '[dataset]\npaths = ["data/*.tsv"]\nbad_rows = 9\n' >"$folder/damaged.toml"
sed -i '3s/^./x/; 5s/^./y/' "$folder/data/day_0.tsv"
gzip -k "$folder/data/day_1.tsv"
printf 'id,click,note\n7,0,"a, b"\n8,1,c\n' >"$folder/rows.csv"
expect 0 '' ingest "$folder/damaged.toml" --state "$folder/state.json" --dump "$folder/dump.tsv"
expect 0 'forebay inspect job.toml data/day_0.tsv checkpoints' inspect --help
expect 0 'Criteo TSV, 1,500 rows.*' inspect "$folder/data/day_0.tsv"
expect 0 'line 3: column label: "x" is not 0 or 1' inspect "$folder/data/day_0.tsv"
expect 0 'Criteo TSV (gzip), 1,500 rows' inspect "$folder/data/day_1.tsv.gz"
expect 0 '"kind":"csv".*"rows":2,"rows_estimated":false' inspect "$folder/rows.csv" --json
expect 0 'loader state after 1 batches, 2,998 rows' inspect "$folder/state.json"
expect 0 '"kind":"dump","codec":"plain"' inspect "$folder/dump.tsv" --json
expect 0 '2 *column label: "…" is not 0 or 1' inspect "$folder/.forebay/quarantine.tsv"
expect 0 '"kind":"dataset"' inspect "$folder"/.forebay/index/dataset-*.json --json
expect 0 '"kind":"index","of":"/.*","file":"' inspect "$folder"/.forebay/index/*.idx --json
expect 0 'dataset.bad_rows *9' inspect "$folder/damaged.toml"
expect 0 '"kind":"job".*"kind":"state"' inspect "$folder/job.toml" "$folder/state.json" --json
expect 0 '^sigrid_hash .*max_value' inspect --ops
expect 0 '{"ops":\[{"name":"' inspect --ops --json
expect 2 '^forebay: inspect needs a file, or --ops' inspect
expect 2 '^forebay: .*none cannot be read: No such file' inspect "$folder/none"
printf 'once upon a time\nthere was, a file\n' >"$folder/tale"
expect 2 'tale: not a data file' inspect "$folder/state.json" "$folder/tale"
: >"$folder/empty"
expect 2 'empty: is empty' inspect "$folder/empty"
expect 2 'holds no checkpoint' inspect "$folder"
expect 1 'day.tsv.gz' inspect "$folder/cut/day.tsv.gz"

# launch writes files and starts nothing.
expect 0 'forebay launch slurm job.toml' launch --help
expect 0 'job.sbatch",.*"output":".*slurm-%j.out"' launch slurm "$folder/job.toml" --out "$folder/sbatch" --json
echo >>"$folder/sbatch/job.sbatch"
expect 2 'job.sbatch was edited since' launch slurm "$folder/job.toml" --out "$folder/sbatch"
expect 0 'job.sbatch' launch slurm "$folder/job.toml" --out "$folder/sbatch" --gpus 1 --force
expect 0 'start.sh' launch ssh "$folder/job.toml" --out "$folder/ssh" --command ingest
for script in "$folder"/sbatch/* "$folder"/ssh/*.sh; do bash -n "$script" || failures=$((failures + 1)); done
expect 2 'launch pbs: must be slurm, k8s or ssh' launch pbs "$folder/job.toml"
expect 2 'must be train or ingest' launch slurm "$folder/job.toml" --command index
expect 2 'cluster.keys is missing' launch k8s "$folder/job.toml"

# doctor: each check in one line; bad ones exit with 1.
expect 0 'forebay doctor job.toml' doctor --help
expect 0 '^ok *memory: .* available' doctor
expect 0 '"checks":\[{"name":"cpus","status":"' doctor --json
memory=(--set pipeline.memory=1GiB)  # without it, a half of what the neighbours leave
quiet=(--set trainer.model=none "${memory[@]}")
expect 0 '^ok *dataset: 2 files, 3,000 rows' doctor "$folder/job.toml" "${quiet[@]}"
expect 0 '^ok *transforms: 0, giving 13 dense and 26 sparse features' \
  doctor "$folder/job.toml" "${quiet[@]}"
expect 1 '^bad *room: pipeline.memory = 30 MiB is too small' \
  doctor "$folder/job.toml" "${quiet[@]}" --set pipeline.memory=30MiB
expect 2 '^forebay: job file .*none.toml: No such file' doctor "$folder/none.toml"
expect 2 '^forebay: job file .*is a folder' doctor "$folder"
expect 2 '^forebay: .*/none.parquet cannot be read: No such file' doctor "$folder/none.parquet"
expect 2 '^forebay: .*did you mean order.seed' doctor "$folder/job.toml" --set order.sed=1
expect 1 '^bad *dataset: .*nothing.*tsv' \
  doctor "$folder/job.toml" "${quiet[@]}" --set 'dataset.paths=["nothing*.tsv"]'
expect 1 '"name":"dataset","status":"bad","message":".*day.tsv.gz' \
  doctor "$folder/cut.toml" "${quiet[@]}" --json
(
  flock 9
  expect 1 '^bad *run: .*is in use by process' doctor "$folder/job.toml" "${quiet[@]}"
  exit "$failures"
) 9>>"$folder/.forebay/lock" || failures=$((failures + 1))
mkdir -p "$folder/checkpoints/checkpoint-000000001"
expect 0 '^warn *checkpoints: .*--resume' \
  doctor "$folder/job.toml" --set trainer.model=emulated "${memory[@]}"
expect 0 'unusable: .*manifest.json' inspect "$folder/checkpoints"

[ "$failures" -eq 0 ] && echo "cli: ok"
exit "$failures"
