#include "engine/modelled/modelled_figures.h"

#include <algorithm>
#include <cstdio>

#include "tuner/sim/oracle.h"

namespace forebay {
namespace {

std::string percent(double share) {
  char text[20];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

/// Shares of the lifetime of the stage's actors, and the time that one actor takes for a split.
std::vector<std::string> stage_row(const std::string& name, const tuner::StageObservation& seen) {
  const double lived = std::max(seen.actor_seconds, 1e-12);
  char service[20];
  std::snprintf(service, sizeof service, "%.3g",
                seen.done > 0 ? seen.done_seconds / static_cast<double>(seen.done) : 0.0);
  return {name,
          std::to_string(seen.actors),
          seen.done > 0 ? service : "-",
          percent(seen.working_seconds / lived),
          percent(seen.input_wait_seconds / lived),
          percent(seen.output_wait_seconds / lived),
          percent(seen.queue_fill)};
}

}  // namespace

double ModelledFigures::ratio() const {
  return oracle_splits_per_second > 0 ? splits_per_second() / oracle_splits_per_second : 0;
}

double ModelledFigures::cpus_used() const {
  double used = 0;
  for (const tuner::StageObservation& stage : measured.stages) used += stage.cpu_seconds;
  return measured.seconds > 0 ? used / measured.seconds : 0;
}

double ModelledFigures::starved_ratio() const {
  return measured.seconds > 0 ? std::min(1.0, measured.trainer_wait_seconds / measured.seconds) : 0;
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

JsonObject json_of(const ModelledFigures& figures, const tuner::PipelineModel& model) {
  JsonObject allocation;
  for (std::size_t i = 0; i < model.stages.size(); ++i) {
    allocation.add(model.stages[i].name, figures.allocation.actors[i]);
  }
  const double rate = figures.splits_per_second();
  return JsonObject()
      .add("pipeline", model.name)
      .add("splits_per_second", rate)
      .add("rows_per_second", rate * static_cast<double>(model.rows_per_split))
      .add("oracle_splits_per_second", figures.oracle_splits_per_second)
      .add("ratio", figures.ratio())
      .add("allocation", allocation)
      .add("prefetch", figures.allocation.prefetch)
      .add("actors", figures.allocation.total_actors())
      .add("cpus_used", figures.cpus_used())
      .add("peak_memory_bytes", figures.peak_memory_bytes)
      .add("out_of_memory", figures.out_of_memory)
      .add("starved_ratio", figures.starved_ratio())
      .add("bottleneck_share", tuner::bottleneck_share(tuner::model_at(model, 0)));
}

std::vector<std::vector<std::string>> stage_rows(const ModelledFigures& figures,
                                                 const tuner::PipelineModel& model) {
  std::vector<std::vector<std::string>> rows = {
      {"stage", "actors", "s/split", "working", "wait for input", "for output", "queue filled"}};
  for (std::size_t i = 0; i < figures.measured.stages.size(); ++i) {
    rows.push_back(stage_row(model.stages[i].name, figures.measured.stages[i]));
  }
  return rows;
}

}  // namespace forebay
