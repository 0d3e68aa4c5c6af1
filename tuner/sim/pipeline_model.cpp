#include "tuner/sim/pipeline_model.h"

#include <algorithm>
#include <limits>

#include "tuner/sim/world_state.h"

namespace forebay::tuner {
namespace {

std::uint64_t most_prefetch(const PipelineModel& model, std::uint64_t item_bytes) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (item_bytes == 0) return std::max<std::uint64_t>(model.prefetch_splits, 1U << 20);
  const std::uint64_t room = model.memory_bytes - std::min(model.base_bytes, model.memory_bytes);
  return std::clamp<std::uint64_t>(room / item_bytes, model.prefetch_splits, kMost);
}

void apply_event(PipelineModel& now, const PipelineModel& file, const ModelEvent& event) {
  if (event.stage) {
    StageModel& stage = now.stages[*event.stage];
    if (event.seconds_factor) {
      stage.seconds = file.stages[*event.stage].seconds * *event.seconds_factor;
    }
    stage.max_rate = event.max_rate.value_or(stage.max_rate);
  }
  now.cpus = event.cpus.value_or(now.cpus);
  now.memory_bytes = event.memory_bytes.value_or(now.memory_bytes);
  now.trainer_step_seconds = event.trainer_step_seconds.value_or(now.trainer_step_seconds);
}

bool is_beyond_plain(const StageModel& stage) {
  return !stage.uses.empty() || stage.tail || stage.start_seconds > 0 || stage.ordered;
}

bool changes_a_world(const ModelEvent& event) {
  return event.over_seconds > 0 || event.node || event.resource;
}

}  // namespace

bool is_world(const PipelineModel& model) {
  return !model.resources.empty() || !model.nodes.empty() || model.pause ||
         std::ranges::any_of(model.stages, is_beyond_plain) ||
         std::ranges::any_of(model.events, changes_a_world);
}

PipelineModel steady_part(const PipelineModel& model) {
  PipelineModel steady = model;
  steady.events.clear();
  for (StageModel& stage : steady.stages) stage.start_seconds = 0;
  return steady;
}

PipelineDescription description_of(const PipelineModel& model) {
  PipelineDescription description;
  description.fixed_bytes = model.base_bytes;
  for (const StageModel& stage : model.stages) {
    description.stages.push_back({.name = stage.name,
                                  .max_actors = stage.max_actors,
                                  .bytes_per_actor = stage.bytes_per_actor});
    description.fixed_bytes += model.queue_splits * stage.bytes_out;
  }
  // The last stage's output waits for the trainer in the prefetch.
  const std::uint64_t item_bytes = model.stages.empty() ? 0 : model.stages.back().bytes_out;
  description.fixed_bytes -= model.queue_splits * item_bytes;
  description.prefetch_item_bytes = item_bytes;
  description.max_prefetch = static_cast<std::uint32_t>(most_prefetch(model, item_bytes));
  description.default_prefetch = model.prefetch_splits;
  description.rows_per_split = model.rows_per_split;
  return description;
}

PipelineModel model_at(const PipelineModel& model, double seconds) {
  if (is_world(model)) return world_at(model, seconds);
  PipelineModel now = model;
  now.events.clear();
  for (const ModelEvent& event : model.events) {
    if (event.at_seconds <= seconds) apply_event(now, model, event);
  }
  return now;
}

std::vector<StageCost> costs_of(const PipelineModel& model) {
  return {model.stages.begin(), model.stages.end()};
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
