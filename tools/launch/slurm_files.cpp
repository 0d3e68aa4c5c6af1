#include <algorithm>
#include <string>

#include "tools/launch/fill.h"
#include "tools/launch/launch_spec.h"

namespace forebay {
namespace {

constexpr std::string_view kHeader = R"sh(#!/bin/bash
# @NAME@: forebay @COMMAND@ on Slurm.
#
#   sbatch @SCRIPT@      starts it; its number is the JOBID
#   scancel JOBID        stops it in order: state saved, nothing left behind
#   @SCALE@ N            N workers from now on
#
# The batch script runs the trainer, and in it the head, on the first node. Every further task is a
# worker that joins them. Options of sbatch override what stands here:
# `sbatch --nodes=1 --ntasks-per-node=3 …` puts the trainer and two workers on one node.
#
#SBATCH --job-name=@NAME@
#SBATCH --output=@LOGS@/slurm-%j.out
#SBATCH --error=@LOGS@/slurm-%j.err
#SBATCH --open-mode=append
# A node that fails takes its workers along, not the job; a preempted job starts again and resumes.
#SBATCH --no-kill
#SBATCH --requeue
# Told this many seconds before the time limit, it saves its state and goes back into the queue.
#SBATCH --signal=B:USR1@@NOTICE@
)sh";

constexpr std::string_view kTogether = R"sh(#
# The job's pipeline.cpus, and its pipeline.memory shared among them, for each task.
#SBATCH --nodes=@NODES@
#SBATCH --ntasks=@NODES@
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=@CPUS@
#SBATCH --mem-per-cpu=@MEMORY@M
)sh";

constexpr std::string_view kHeterogeneous = R"sh(#
# The trainer's part: one node with GPUs.
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=@CPUS@
#SBATCH --mem-per-cpu=@MEMORY@M
#SBATCH --gres=gpu:@GPUS@
#SBATCH hetjob
# The workers' part: nodes without.
#SBATCH --ntasks=@WORKERS@
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=@CPUS@
#SBATCH --mem-per-cpu=@MEMORY@M
)sh";

constexpr std::string_view kBody = R"sh(
set -u
launch=@OUT@
run_dir=@RUN_DIR@
started=$launch/started
steps=()

@WORKERS_COUNT@
# Where the workers look: the address that the trainer writes counts once it is newer than this
# file, which names how many workers this job has itself.
mkdir -p "$run_dir/logs"
printf '%s\n' "$workers" >"$started"

command=(@FOREBAY@ @COMMAND@ @JOB@ --json@SETS@ --set cluster.listen=@LISTEN@)
@RESUME@
"${command[@]}" &
trainer=$!

# The time limit comes near, and the shell alone is told: stop in order, then into the queue again.
again=no
trap 'again=yes; kill -TERM "$trainer"' USR1
# scancel, preemption: Slurm tells every process of the job, the trainer and the workers too.
trap ':' TERM INT HUP

@WORKERS_STEP@
# A wait that a trap ended early tells nothing; after the trainer's end the next one tells its status.
status=0
while kill -0 "$trainer" 2>/dev/null; do wait "$trainer"; done
wait "$trainer"
status=$?

# The workers end with the job. Those that do not, and those that never joined, are told to.
patience=@GRACE@
[ "$status" -eq 0 ] || patience=1
for step in ${steps[@]+"${steps[@]}"}; do
  while [ "$patience" -gt 0 ] && kill -0 "$step" 2>/dev/null; do sleep 1; patience=$((patience - 1)); done
  kill -TERM "$step" 2>/dev/null
  wait "$step"
done
scancel --quiet --user="$(id -un)" --name=@NAME@-worker
rm -f "$started"
[ "$again" = yes ] && [ "$status" -ne 0 ] && scontrol requeue "$SLURM_JOB_ID"
exit "$status"
)sh";

constexpr std::string_view kTrainResume =
    R"sh(# A job that Slurm started again goes on from its last checkpoint.
[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] && command+=(--resume))sh";

constexpr std::string_view kIngestResume =
    R"sh(# Written at the end and on an orderly stop; a job that Slurm started again goes on from it.
state=$run_dir/slurm-$SLURM_JOB_ID.state
command+=(--state "$state")
[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] && [ -s "$state" ] && command+=(--resume "$state"))sh";

constexpr std::string_view kWorkersTogether =
    R"sh(# One task a worker, on the other nodes where there are any. A worker that fails is no failure of
# the job: others make what it was making.
where=(--nodes=1)
[ "$SLURM_JOB_NUM_NODES" -gt 1 ] && where=(--nodes=$((SLURM_JOB_NUM_NODES - 1)) --relative=1)
)sh";

constexpr std::string_view kWorkersApart =
    R"sh(# One task a worker. A worker that fails is no failure of the job: others make what it was making.
where=(--het-group=1)
)sh";

constexpr std::string_view kStep = R"sh(if [ "$workers" -gt 0 ]; then
  srun --ntasks="$workers" "${where[@]}" --exact --no-kill --kill-on-bad-exit=0 --wait=0 \
    --open-mode=append --output="$run_dir/logs/slurm-%j-worker-%t.log" "$launch/worker.sh" &
  steps+=($!)
fi
)sh";

constexpr std::string_view kWorker = R"sh(#!/bin/bash
# One worker of @NAME@: waits until the trainer says where it listens, then joins it; a trainer that
# comes back elsewhere is found by the same file.
set -u
started=@OUT@/started
address_file=@RUN_DIR@/address
patience=@PATIENCE@  # seconds

until [ "$address_file" -nt "$started" ] && [ -s "$started" ]; do
  [ "$SECONDS" -lt "$patience" ] || { echo "no trainer wrote $address_file in $patience s" >&2; exit 1; }
  sleep 1
done
exec @FOREBAY@ worker --join @HEAD@ --cpus @CPUS@ --memory @MEMORY_BYTES@@KEYS@@METRICS@ \
  --name "$(hostname)-${SLURM_JOB_ID:-0}-${SLURM_PROCID:-0}"
)sh";

constexpr std::string_view kWorkerJob = R"sh(#!/bin/bash
# One more worker of @NAME@, beyond those of its own job; scale.sh submits it.
#SBATCH --job-name=@NAME@-worker
#SBATCH --output=@LOGS@/slurm-%j-worker.log
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=@CPUS@
#SBATCH --mem-per-cpu=@MEMORY@M
#SBATCH --no-requeue
exec @OUT@/worker.sh
)sh";

constexpr std::string_view kScale = R"sh(#!/bin/bash
# usage: scale.sh N    N workers for @NAME@ from now on
# What its own job has not, is submitted as jobs of one task; of too many of those the youngest are
# cancelled, which give back what they hold.
set -u
case ${1:-} in '' | *[!0-9]*) sed -n '2,4s/^# //p' "$0" >&2; exit 2 ;; esac
own=$(sed -n 1p @OUT@/started 2>/dev/null)
[ -n "$own" ] || { echo "@NAME@ does not run" >&2; exit 1; }
wanted=$(($1 > own ? $1 - own : 0))
mapfile -t jobs < <(squeue --noheader --user="$(id -un)" --name=@NAME@-worker --format=%A | sort -n)
for ((i = ${#jobs[@]}; i < wanted; ++i)); do sbatch --parsable @OUT@/worker.sbatch || exit 1; done
for ((i = wanted; i < ${#jobs[@]}; ++i)); do scancel "${jobs[$i]}" || exit 1; done
)sh";

std::uint64_t mib_per_cpu(const LaunchSpec& spec) {
  const std::uint64_t cpus = static_cast<std::uint64_t>(std::max(spec.cpus, 1));
  // A margin for memory that the kernel counts and the process does not.
  const std::uint64_t mib = (spec.memory_bytes >> 20) + (spec.memory_bytes >> 24) + 64;
  return (mib + cpus - 1) / cpus;
}

Blanks blanks_of(const LaunchSpec& spec) {
  std::string sets;
  for (const std::string& set : spec.options.sets) sets.append(" --set ").append(shell_word(set));
  return {{"NAME", spec.name},
          {"COMMAND", spec.options.command},
          {"SCRIPT", shell_word(spec.out + "/job.sbatch")},
          {"SCALE", shell_word(spec.out + "/scale.sh")},
          {"LOGS", shell_word(spec.run_dir + "/logs")},
          {"NOTICE", std::to_string(spec.grace_seconds + 60)},
          {"NODES", std::to_string(spec.options.workers + 1)},
          {"WORKERS", std::to_string(spec.options.workers)},
          {"CPUS", std::to_string(spec.cpus)},
          {"MEMORY", std::to_string(mib_per_cpu(spec))},
          {"MEMORY_BYTES", std::to_string(spec.memory_bytes)},
          {"GPUS", spec.options.gpus},
          {"OUT", shell_word(spec.out)},
          {"RUN_DIR", shell_word(spec.run_dir)},
          {"FOREBAY", shell_word(spec.forebay)},
          {"JOB", shell_word(spec.job_file)},
          {"LISTEN", shell_word(spec.listen)},
          {"SETS", sets},
          {"KEYS", spec.keys.empty() ? "" : " --keys " + shell_word(spec.keys)},
          {"GRACE", std::to_string(spec.grace_seconds + 10)},
          {"HEAD", spec.head.empty() ? "\"$address_file\"" : shell_word(spec.head)},
          {"METRICS", worker_metrics(spec)},
          {"PATIENCE", "3600"}};
}

std::string batch_script(const LaunchSpec& spec, Blanks blanks) {
  const bool apart = !spec.options.gpus.empty() && spec.options.workers > 0;
  blanks["RESUME"] = spec.options.command == "train" ? kTrainResume : kIngestResume;
  blanks["WORKERS_COUNT"] =
      apart ? "workers=$SLURM_NTASKS_HET_GROUP_1\n" : "workers=$((SLURM_NTASKS - 1))\n";
  blanks["WORKERS_STEP"] = std::string(apart ? kWorkersApart : kWorkersTogether).append(kStep);
  std::string together(kTogether);
  if (!spec.options.gpus.empty()) together += "#SBATCH --gres=gpu:@GPUS@\n";
  return fill(kHeader, blanks) + fill(apart ? kHeterogeneous : together, blanks) +
         fill(kBody, blanks);
}

}  // namespace

std::vector<LaunchFile> slurm_files(const LaunchSpec& spec) {
  const Blanks blanks = blanks_of(spec);
  return {{"job.sbatch", 0755, batch_script(spec, blanks)},
          {"worker.sh", 0755, fill(kWorker, blanks)},
          {"worker.sbatch", 0755, fill(kWorkerJob, blanks)},
          {"scale.sh", 0755, fill(kScale, blanks)}};
}

}  // namespace forebay
