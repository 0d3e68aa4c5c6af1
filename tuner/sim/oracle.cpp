#include "tuner/sim/oracle.h"

#include <algorithm>

namespace forebay::tuner {

std::vector<StageCost> costs_of(const PipelineModel& model) {
  std::vector<StageCost> costs;
  costs.reserve(model.stages.size());
  for (const StageModel& stage : model.stages) {
    costs.push_back({.seconds = stage.seconds,
                     .cpu = stage.cpu,
                     .alpha = stage.alpha,
                     .beta = stage.beta,
                     .max_rate = stage.max_rate});
  }
  return costs;
}

double trainer_rate_of(const PipelineModel& model) {
  return model.trainer_step_seconds > 0 ? 1 / model.trainer_step_seconds : 0;
}

Plan oracle_of(const PipelineModel& model) {
  return best_allocation(description_of(model), costs_of(model),
                         {.limits = {.cpus = model.cpus, .memory_bytes = model.memory_bytes},
                          .trainer_rate = trainer_rate_of(model),
                          .prefetch = 1});
}

double bottleneck_share(const PipelineModel& model) {
  double largest = 0;
  double sum = 0;
  for (const StageModel& stage : model.stages) {
    largest = std::max(largest, stage.seconds * stage.cpu);
    sum += stage.seconds * stage.cpu;
  }
  return sum > 0 ? largest / sum : 0;
}

}  // namespace forebay::tuner
