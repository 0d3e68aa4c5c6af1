#include <cstdlib>
#include <utility>

#include "engine/outputs/job_files.h"
#include "engine/ranks/rank_environment.h"
#include "engine/train/train_run.h"
#include "engine/train/training_ranks.h"
#include "tools/command/arguments.h"
#include "tools/command/commands.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tools/terminal/summary.h"
#include "tools/terminal/terminal_events.h"

namespace forebay {
namespace {

Exit exit_of(const TrainEnd& end) {
  if (end.how == TrainEnd::How::kStopped) return Exit::stopped(end.signal);
  if (end.how == TrainEnd::How::kFailed) return Exit::failed(end.error);
  if (end.how == TrainEnd::How::kRefused) return Exit::refused(end.error);
  return Exit::done();
}

/// Called while the run still exists: if its threads may be stuck, the process ends here.
Exit ended(const TrainEnd& end, const Invocation& invocation) {
  Exit exit = exit_of(end);
  if (!end.at_once) return exit;
  print_stop(invocation, exit);
  leave(exit);
}

JsonObject json_of(const RankReport& rank) {
  return JsonObject()
      .add("rank", rank.rank)
      .add("ranks", rank.ranks)
      .add("rows", rank.rows)
      .add("batches", rank.batches);
}

Checkpointing::Begin begin_of(const Invocation& invocation) {
  if (invocation.has("--restart")) return Checkpointing::Begin::kRestart;
  return invocation.has("--resume") ? Checkpointing::Begin::kResume : Checkpointing::Begin::kFresh;
}

/// Prints a report; a failed run prints no JSON.
void print(const TrainEnd& end, const JobSpec& job, bool as_json) {
  if (!end.report) return;
  if (!as_json) return print_report(*end.report, job);
  if (end.how != TrainEnd::How::kFailed) print_report_as_json(*end.report);
}

}  // namespace

Exit run_train(const Invocation& invocation) {
  if (invocation.has("--resume") && invocation.has("--restart")) {
    return Exit::refused(
        "train: --resume goes on from the last checkpoint and --restart starts anew over it: give "
        "one of them");
  }
  auto job = open_job(invocation);
  if (!job) return Exit::refused(job.error());
  auto ranks = RankEnvironment::read(std::getenv);
  if (!ranks) return Exit::refused(ranks.error());
  if (*ranks && (*ranks)->rank != 0) {
    FollowRun run(std::move(*job), **ranks, StopRequest::source(), terminal_events(),
                  [&invocation](const RankReport& rank) {
                    if (invocation.has("--json")) print_json(json_of(rank));
                  });
    return ended(run.run(), invocation);
  }
  const auto guarded = guard_inputs(inputs_of(*job), outputs_of(*job, "train"), print_message);
  if (!guarded) return Exit::refused(guarded.error());
  TrainRun run(
      std::move(*job),
      {.begin = begin_of(invocation), .ranks = std::move(*ranks), .events = terminal_events()});
  const TrainEnd end = run.run();
  print(end, run.job(), invocation.has("--json"));
  return ended(end, invocation);
}

}  // namespace forebay
