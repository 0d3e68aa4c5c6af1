#include "engine/modelled/simulation.h"

#include <algorithm>
#include <vector>

#include "core/base/text/nearest.h"
#include "engine/job/quantity.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/simulator.h"

namespace forebay {
namespace {

tl::unexpected<Error> refuse_part(std::string_view part, const std::string& why) {
  return fail(Code::kInvalid, "--allocation " + std::string(part) + why);
}

Result<std::size_t> stage_named(std::string_view name,
                                const tuner::PipelineDescription& description) {
  std::vector<std::string_view> names;
  std::string all;
  for (const tuner::StageDescription& stage : description.stages) {
    if (stage.name == name) return names.size();
    names.push_back(stage.name);
    all.append(all.empty() ? "" : ", ").append(stage.name);
  }
  return refuse_part(name,
                     ": no such stage" + did_you_mean(name, names) + " (stages: " + all + ")");
}

}  // namespace

Result<tuner::Allocation> parse_allocation(std::string_view text,
                                           const tuner::PipelineDescription& description) {
  tuner::Allocation read = tuner::one_each(description);
  std::vector<bool> given(description.stages.size());
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      return refuse_part(part, ": must be STAGE=COUNT,…, or oracle");
    auto stage = stage_named(part.substr(0, equals), description);
    if (!stage) return pass(stage);
    if (given[*stage]) return refuse_part(part, ": that stage is named twice");
    given[*stage] = true;
    const auto count = parse_count(part.substr(equals + 1));
    const std::uint32_t most = description.stages[*stage].max_actors;
    if (!count || *count < 1 || *count > most) {
      return refuse_part(part, ": must be a whole number from 1 to " + std::to_string(most));
    }
    read.actors[*stage] = static_cast<std::uint32_t>(*count);
  }
  return read;
}

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
