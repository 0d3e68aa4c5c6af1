#include "engine/modelled/simulation.h"

#include <algorithm>

#include "tuner/sim/oracle.h"
#include "tuner/sim/simulator.h"

namespace forebay {

ModelledFigures simulate(const tuner::PipelineModel& model, const tuner::Allocation& allocation,
                         double seconds, std::uint64_t seed, const std::function<bool()>& stop) {
  constexpr double kBetweenStops = 60;
  tuner::Simulator simulator(model, seed);
  simulator.apply(allocation);
  const auto run_until = [&](double end) {
    while (simulator.now() < end && !simulator.out_of_memory() && !stop()) {
      simulator.run_until(std::min(end, simulator.now() + kBetweenStops));
    }
  };
  const double warm = seconds / 10;
  run_until(warm);
  if (simulator.now() >= warm) simulator.observe();
  run_until(seconds);
  const double end = simulator.now();
  return {.allocation = allocation,
          .measured = simulator.observe(),
          .oracle_splits_per_second = oracle_rate(model, std::min(warm, end), end),
          .peak_memory_bytes = simulator.totals().memory_peak,
          .out_of_memory = simulator.out_of_memory()};
}

double usual_seconds(const tuner::PipelineModel& model) {
  constexpr double kSplits = 30'000;
  constexpr double kAfterEvents = 300;
  const double rate = tuner::oracle_of(model).splits_per_second;
  const double last = model.events.empty() ? 0 : model.events.back().at_seconds + kAfterEvents;
  return std::max({120.0, last, rate > 0 ? kSplits / rate : 0});
}

tuner::Allocation oracle_allocation(const tuner::PipelineModel& described) {
  const tuner::PipelineModel model = tuner::model_at(described, 0);
  const tuner::PipelineDescription description = tuner::description_of(model);
  tuner::Allocation best = tuner::oracle_of(model).allocation;
  best.prefetch = 1;
  const std::uint64_t taken = tuner::worst_case_bytes(description, best);
  const std::uint64_t item = std::max<std::uint64_t>(description.prefetch_item_bytes, 1);
  const std::uint64_t more = (model.memory_bytes - std::min(taken, model.memory_bytes)) / item;
  best.prefetch =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(model.prefetch_splits, 1 + more));
  return best;
}

}  // namespace forebay
