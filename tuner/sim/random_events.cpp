#include "tuner/sim/random_events.h"

#include <algorithm>

#include "tuner/allocation.h"
#include "tuner/sim/oracle.h"

namespace forebay::tuner {
namespace {

constexpr double kRoom = 1.02;

/// A disturbance, and the event that reverts it.
struct Disturbance {
  ModelEvent begins;
  ModelEvent ends;
};

Disturbance slower_stage(const PipelineModel& model, ValueSampler& sampler) {
  const std::size_t stage = sampler.whole(0, static_cast<std::uint32_t>(model.stages.size()) - 1);
  return {.begins = {.stage = stage, .seconds_factor = 4.0},
          .ends = {.stage = stage, .seconds_factor = 1.0}};
}

Disturbance other_cpus(const PipelineModel& model, ValueSampler& sampler) {
  const double factor = sampler.chance(0.5) ? 0.5 : 2.0;
  return {.begins = {.cpus = std::max(1.0, std::floor(model.cpus * factor))},
          .ends = {.cpus = model.cpus}};
}

/// Limits a stage to a third: of its rate limit if a stage has one, else the first stage to a third
/// of the pipeline's rate.
Disturbance slower_storage(const PipelineModel& model) {
  const auto limited = std::find_if(model.stages.begin(), model.stages.end(),
                                    [](const StageModel& stage) { return stage.max_rate > 0; });
  const bool found = limited != model.stages.end();
  const auto stage = found ? static_cast<std::size_t>(limited - model.stages.begin()) : 0;
  const double rate = found ? limited->max_rate : oracle_of(model).splits_per_second;
  return {.begins = {.stage = stage, .max_rate = rate / 3},
          .ends = {.stage = stage, .max_rate = model.stages[stage].max_rate}};
}

Disturbance less_memory(const PipelineModel& model) {
  const PipelineDescription description = description_of(model);
  Allocation least = one_each(description);
  least.prefetch = 1;
  const double fewest = static_cast<double>(worst_case_bytes(description, least)) * kRoom;
  const double half = static_cast<double>(model.memory_bytes) / 2;
  return {.begins = {.memory_bytes = static_cast<std::uint64_t>(std::max(half, fewest))},
          .ends = {.memory_bytes = model.memory_bytes}};
}

Disturbance other_trainer(const PipelineModel& model, ValueSampler& sampler) {
  const double step = model.trainer_step_seconds;
  return {.begins = {.trainer_step_seconds = step * sampler.log_uniform(0.4, 3)},
          .ends = {.trainer_step_seconds = step}};
}

Disturbance any_disturbance(const PipelineModel& model, ValueSampler& sampler) {
  switch (sampler.whole(0, 4)) {
    case 0:
      return slower_stage(model, sampler);
    case 1:
      return other_cpus(model, sampler);
    case 2:
      return slower_storage(model);
    case 3:
      return less_memory(model);
    default:
      return other_trainer(model, sampler);
  }
}

}  // namespace

std::vector<ModelEvent> random_events(const PipelineModel& model, ValueSampler& sampler) {
  std::vector<ModelEvent> events;
  double at = 0;
  const auto add = [&](ModelEvent event) {
    event.at_seconds = at;
    events.push_back(event);
  };
  for (std::uint32_t left = sampler.whole(1, 4); left > 0; --left) {
    const Disturbance disturbance = any_disturbance(model, sampler);
    at = std::round(at + sampler.uniform(120, 300));
    add(disturbance.begins);
    at = std::round(at + sampler.uniform(120, 300));
    add(disturbance.ends);
  }
  return events;
}

}  // namespace forebay::tuner
