#include <cstdlib>
#include <utility>

#include "engine/outputs/job_files.h"
#include "engine/ranks/rank_environment.h"
#include "engine/train/follow_run.h"
#include "engine/train/train_run.h"
#include "tools/command/commands.h"
#include "tools/command/job_arguments.h"

namespace forebay {

Exit run_train(const Invocation& invocation) {
  auto job = open_job(invocation);
  if (!job) return Exit::refused(job.error());
  auto ranks = RankEnvironment::read(std::getenv);
  if (!ranks) return Exit::refused(ranks.error());
  if (*ranks && (*ranks)->rank != 0) return run_following(std::move(*job), **ranks);
  const auto guarded = guard_inputs(inputs_of(*job), outputs_of(*job, "train"));
  if (!guarded) return Exit::refused(guarded.error());
  TrainRun::Options options;
  options.ranks = std::move(*ranks);
  if (invocation.has("--restart")) {
    options.begin = Checkpointing::Begin::kRestart;
  } else if (invocation.has("--resume")) {
    options.begin = Checkpointing::Begin::kResume;
  }
  if (invocation.has("--json")) options.report = TrainReport::As::kJson;
  return TrainRun(std::move(*job), options).run();
}

}  // namespace forebay
