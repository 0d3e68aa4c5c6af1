#include "engine/analyze/run_sample.h"

#include <algorithm>
#include <string>

#include "core/base/clock.h"
#include "core/base/text/number.h"
#include "engine/run/tuned_stages.h"

namespace forebay {

tuner::Observation observation_of(const RunSample& before, const RunSample& now,
                                  const tuner::Limits& limits) {
  tuner::Observation seen;
  seen.at_seconds = in_seconds(now.at);
  seen.seconds = in_seconds(now.at - before.at);
  seen.limits = limits;
  const std::size_t stages = now.pipeline.stages.size() - 1;
  double stages_cpu = 0;
  for (std::size_t i = 0; i < stages; ++i) {
    tuner::StageObservation stage =
        observation_of(before.pipeline.stages[i].pool, now.pipeline.stages[i].pool);
    stage.actors = now.pipeline.actors_wanted[i];
    stage.queue_fill = fill_behind(now.pipeline, i, stages);
    stage.queued_bytes = now.pipeline.stages[i + 1].pool.queued_bytes;
    stages_cpu += stage.cpu_seconds;
    seen.stages.push_back(stage);
  }
  seen.other_cpu_seconds = std::max(0.0, now.cpu_seconds - before.cpu_seconds - stages_cpu);
  seen.trainer_steps = now.steps - before.steps;
  const auto splits = now.pipeline.stages.back().pool.totals.messages -
                      before.pipeline.stages.back().pool.totals.messages;
  if (seen.trainer_steps > 0 && splits > 0) {
    seen.splits_per_item = static_cast<double>(splits) / static_cast<double>(seen.trainer_steps);
  }
  seen.trainer_step_seconds = in_seconds(now.worked - before.worked);
  seen.trainer_wait_seconds = in_seconds(now.waited - before.waited);
  return seen;
}

double run_delay_of(const std::string& schedstat) {
  return static_cast<double>(second_number(schedstat).value_or(0)) * 1e-9;
}

}  // namespace forebay
