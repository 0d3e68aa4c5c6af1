#include "engine/modelled/modelled_figures.h"

#include <algorithm>

#include "engine/job/quantity.h"
#include "tuner/observation_sum.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/world/world_layout.h"

namespace forebay {
namespace {

std::string percent(double share) { return printed("%.0f %%", 100 * share); }

/// Shares of the lifetime of the stage's actors, and the time that one actor takes for a split.
std::vector<std::string> stage_row(const std::string& name, const tuner::StageObservation& seen) {
  const double lived = std::max(seen.actor_seconds, 1e-12);
  return {name,
          std::to_string(seen.actors),
          seen.done > 0 ? printed("%.3g", seen.done_seconds / static_cast<double>(seen.done)) : "-",
          percent(seen.working_seconds / lived),
          percent(seen.input_wait_seconds / lived),
          percent(seen.output_wait_seconds / lived),
          percent(seen.queue_fill)};
}

using tuner::Observation;
using tuner::StageObservation;

/// Joins `sum` and the interval after it; `weight` is the share of `next` in the time of both.
StageObservation joined(const StageObservation& sum, const StageObservation& next, double weight) {
  StageObservation both = next;
  add_sums(both, sum);
  both.queue_fill = weight * next.queue_fill + (1 - weight) * sum.queue_fill;
  return both;
}

Observation joined(const Observation& sum, const Observation& next) {
  Observation both = next;
  both.seconds += sum.seconds;
  const double weight = both.seconds > 0 ? next.seconds / both.seconds : 1;
  for (std::size_t i = 0; i < both.stages.size(); ++i) {
    both.stages[i] = joined(sum.stages[i], next.stages[i], weight);
  }
  both.trainer_steps += sum.trainer_steps;
  both.trainer_step_seconds += sum.trainer_step_seconds;
  both.trainer_wait_seconds += sum.trainer_wait_seconds;
  both.other_cpu_seconds += sum.other_cpu_seconds;
  both.prefetch_fill = weight * next.prefetch_fill + (1 - weight) * sum.prefetch_fill;
  both.prefetch_full += sum.prefetch_full;
  both.prefetch_empty += sum.prefetch_empty;
  both.memory_peak = std::max(next.memory_peak, sum.memory_peak);
  return both;
}

JsonObject allocation_of(const tuner::Allocation& allocation,
                         const std::vector<std::string>& names) {
  JsonObject json;
  for (std::size_t i = 0; i < names.size(); ++i) json.add(names[i], allocation.actors[i]);
  return json;
}

std::vector<JsonObject> nodes_of(const ModelledFigures& figures,
                                 const tuner::PipelineModel& model) {
  std::vector<std::string> names;
  for (const tuner::StageModel& stage : model.stages) names.push_back(stage.name);
  std::vector<JsonObject> nodes;
  for (std::size_t k = 0; k < figures.nodes.size(); ++k) {
    const NodeFigures& node = figures.nodes[k];
    const tuner::Allocation part = tuner::part_of_node(figures.allocation, model, k);
    nodes.push_back(JsonObject()
                        .add("name", node.name)
                        .add("splits_per_second", node.splits_per_second)
                        .add("allocation", allocation_of(part, names))
                        .add("actors", part.total_actors())
                        .add("cpus_used", node.cpus_used)
                        .add("peak_memory_bytes", node.peak_memory_bytes)
                        .add("out_of_memory", node.out_of_memory));
  }
  return nodes;
}

}  // namespace

double ModelledFigures::splits_per_second() const {
  const auto trained = static_cast<double>(measured.trainer_steps);
  return seconds() > 0 ? trained * measured.splits_per_item / seconds() : 0;
}

std::optional<double> ModelledFigures::ratio() const {
  if (!oracle_splits_per_second) return std::nullopt;
  return *oracle_splits_per_second > 0 ? splits_per_second() / *oracle_splits_per_second : 0;
}

double ModelledFigures::cpus_used() const {
  double used = 0;
  for (const tuner::StageObservation& stage : measured.stages) used += stage.cpu_seconds;
  return seconds() > 0 ? used / seconds() : 0;
}

double ModelledFigures::starved_ratio() const {
  return seconds() > 0 ? std::min(1.0, measured.trainer_wait_seconds / seconds()) : 0;
}

double oracle_rate(const tuner::PipelineModel& model, double from, double to) {
  double delivered = 0;
  double at = from;
  const auto add = [&](double until) {
    if (until <= at) return;
    delivered += tuner::oracle_of(tuner::model_at(model, at)).splits_per_second * (until - at);
    at = until;
  };
  for (const tuner::ModelEvent& event : model.events) add(std::min(event.at_seconds, to));
  add(to);
  return to > from ? delivered / (to - from)
                   : tuner::oracle_of(tuner::model_at(model, from)).splits_per_second;
}

void compare(ModelledFigures& figures, const std::vector<tuner::OracleSpan>& line, double from,
             double to) {
  if (std::ranges::any_of(line, [](const auto& span) { return span.best.cut_short; })) return;
  figures.oracle_splits_per_second = tuner::mean_rate(line, from, to);
  figures.best_known = std::ranges::any_of(line, [](const auto& span) { return !span.best.exact; });
}

JsonObject json_of(const ModelledFigures& figures, const tuner::PipelineModel& model) {
  const double rate = figures.splits_per_second();
  JsonObject json;
  json.add("pipeline", model.name)
      .add("splits_per_second", rate)
      .add("rows_per_second", rate * static_cast<double>(model.rows_per_split))
      .add("oracle_splits_per_second", figures.oracle_splits_per_second)
      .add("ratio", figures.ratio())
      .add("allocation", allocation_of(figures.allocation, tuner::line_names(model)))
      .add("prefetch", figures.allocation.prefetch)
      .add("actors", figures.allocation.total_actors())
      .add("cpus_used", figures.cpus_used())
      .add("peak_memory_bytes", figures.peak_memory_bytes)
      .add("out_of_memory", figures.out_of_memory)
      .add("starved_ratio", figures.starved_ratio())
      .add("bottleneck_share", tuner::bottleneck_share(tuner::model_at(model, 0)));
  if (figures.best_known) json.add("best_known", true);
  if (model.nodes.empty()) return json;
  return json.add("nodes", nodes_of(figures, model));
}

std::vector<std::vector<std::string>> stage_rows(const ModelledFigures& figures,
                                                 const tuner::PipelineModel& model) {
  std::vector<std::vector<std::string>> rows = {
      {"stage", "actors", "s/split", "working", "wait for input", "for output", "queue filled"}};
  const std::vector<std::string> names = tuner::line_names(model);
  for (std::size_t i = 0; i < figures.measured.stages.size(); ++i) {
    rows.push_back(stage_row(names[i], figures.measured.stages[i]));
  }
  return rows;
}

Observation sum_of(std::span<const Observation> intervals) {
  Observation sum = intervals.front();
  for (const Observation& next : intervals.subspan(1)) sum = joined(sum, next);
  return sum;
}

}  // namespace forebay
