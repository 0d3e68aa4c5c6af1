#include "tuner/agent/features.h"

#include <algorithm>
#include <cmath>

#include "tuner/plan/plan.h"

namespace forebay::tuner {
namespace {

float scaled(double value, double low, double high) {
  return std::isfinite(value) ? static_cast<float>(std::clamp(value, low, high)) : 0.0F;
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// The values from which the features of all stages are computed; computed once.
struct View {
  View(const Observation& seen_now, const PipelineEstimate& known_now, const Planned& planned)
      : seen(seen_now), known(known_now), base(planned), costs(known_now.mean()) {
    steady = steady_rate(costs, base.allocation.actors, known.cpus(), known.trainer_rate());
    machine = machine_rate(costs, base.allocation.actors, known.cpus());
    for (std::size_t i = 0; i < costs.size(); ++i) {
      StageCost free = costs[i];
      free.max_rate = 0;
      headrooms.push_back(free.rate(base.allocation.actors[i]) / steady - 1);
      used += seen.stages[i].cpu_seconds;
    }
  }

  const Observation& seen;
  const PipelineEstimate& known;
  const Planned& base;
  std::vector<StageCost> costs;
  std::vector<double> headrooms;  // over the rate that the base is planned for, by stage
  double steady = 0;
  double machine = 0;
  double used = 0;  // CPU seconds
};

void fill_stage(const View& view, const PipelineDescription& description, std::size_t i,
                Features& row) {
  const StageObservation& seen = view.seen.stages[i];
  const StageEstimate& known = view.known.stages()[i];
  const StageCost& cost = view.costs[i];
  const double planned = view.base.allocation.actors[i];
  const double slow = cost.slow(planned);
  const double lived = seen.actor_seconds;
  const double gain = planned * (planned + 1) / cost.slow(planned + 1) / (planned * planned / slow);
  const double work = cost.seconds * cost.cpu * slow * view.machine / view.known.cpus();
  const std::array<double, kStageFeatures> raw{
      std::log2(planned) / 8,
      std::log2(planned / std::max(1U, seen.actors)) / 4,
      view.headrooms[i],
      std::log1p(10 * std::max(0.0, view.headrooms[i])) / 3,
      2 * known.noise(),
      cost.cpu,
      std::log(slow),
      (gain - 1) * planned,
      known.spread(planned),
      share(seen.working_seconds, lived),
      share(seen.input_wait_seconds, lived),
      share(seen.output_wait_seconds, lived),
      share(seen.done_ready_seconds, seen.done_seconds),
      seen.queue_fill,
      cost.max_rate > 0 ? view.steady / cost.max_rate : 0,
      known.seen() ? 1.0 : 0.0,
      work,
      planned >= description.stages[i].max_actors ? 1.0 : 0.0,
      known.changed() ? 1.0 : 0.0,
      static_cast<double>(i + 1) / static_cast<double>(view.costs.size())};
  for (std::size_t f = 0; f < raw.size(); ++f) row[f] = scaled(raw[f], -1, 2);
}

// The features that all rows share.
Features pipeline_features(const View& view, const PipelineDescription& description) {
  const Observation& seen = view.seen;
  const Allocation& base = view.base.allocation;
  const auto count = static_cast<double>(view.costs.size());
  double noise = 0;
  double working = 0;
  double blocked = 0;
  double headroom = 0;
  for (std::size_t i = 0; i < view.costs.size(); ++i) {
    noise += view.known.stages()[i].noise() / count;
    working += share(seen.stages[i].working_seconds, seen.stages[i].actor_seconds) / count;
    blocked += share(seen.stages[i].output_wait_seconds, seen.stages[i].actor_seconds) / count;
    headroom += std::min(1.0, view.headrooms[i]) / count;
  }
  const double least = *std::min_element(view.headrooms.begin(), view.headrooms.end());
  const auto limit = static_cast<double>(seen.limits.memory_bytes);
  const double trainer = view.known.trainer_rate();
  const std::array<double, kPipelineFeatures> raw{
      share(view.used, view.known.cpus() * seen.seconds),
      std::log2(seen.limits.cpus) / 8,
      view.machine / view.steady - 1,
      trainer > 0 ? trainer / view.steady - 1 : 1.0,
      share(seen.trainer_wait_seconds, seen.seconds),
      seen.prefetch_fill,
      seen.splits_per_second() / view.steady - 1,
      view.base.uncertainty,
      1 - static_cast<double>(worst_case_bytes(description, base)) / limit,
      view.known.changed() ? 1.0 : 0.0,
      share(base.total_actors(), seen.limits.cpus) / 2,
      count / 9,
      noise * 2,
      working,
      blocked,
      headroom,
      least,
      std::log2(1.0 + base.prefetch) / 6};
  Features row{};
  for (std::size_t f = 0; f < raw.size(); ++f) row[kStageFeatures + f] = scaled(raw[f], -1, 2);
  return row;
}

}  // namespace

std::vector<Features> features_of(const PipelineDescription& description, const Observation& seen,
                                  const PipelineEstimate& known, const Planned& base) {
  const View view(seen, known, base);
  std::vector<Features> rows(description.stages.size(), pipeline_features(view, description));
  for (std::size_t i = 0; i < rows.size(); ++i) fill_stage(view, description, i, rows[i]);
  return rows;
}

}  // namespace forebay::tuner
