#include "engine/modelled/simulation.h"

#include <algorithm>
#include <vector>

#include "core/base/text/nearest.h"
#include "engine/job/quantity.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/simulator.h"
#include "tuner/world/rate_bound.h"
#include "tuner/world/world_layout.h"
#include "tuner/world/world_simulator.h"

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

/// Which stages an allocation that was read without an error names.
std::vector<bool> named_in(std::string_view text, const tuner::PipelineDescription& description) {
  std::vector<bool> given(description.stages.size());
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto stage = stage_named(text.substr(0, std::min(text.find('='), comma)), description);
    if (stage) given[*stage] = true;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return given;
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

Result<tuner::Allocation> parse_allocation(std::string_view text,
                                           const tuner::PipelineModel& model) {
  if (model.nodes.empty()) return parse_allocation(text, tuner::description_of(model));
  const std::size_t stages = model.stages.size();
  const std::size_t lines = stages * model.nodes.size();
  // First the stages of every node, then the lines of one: parsed as if all were stages.
  tuner::PipelineDescription both = tuner::description_of(model);
  const tuner::PipelineDescription whole = tuner::world_description(model);
  both.stages.insert(both.stages.end(), whole.stages.begin(), whole.stages.end());
  auto read = parse_allocation(text, both);
  if (!read) return pass(read);
  const std::vector<bool> given = named_in(text, both);
  tuner::Allocation allocation = tuner::one_each(whole);
  for (std::size_t i = 0; i < lines; ++i) {
    const std::size_t every = i % stages;
    if (given[every]) allocation.actors[i] = read->actors[every];
    if (given[stages + i]) allocation.actors[i] = read->actors[stages + i];
  }
  return allocation;
}

namespace {

/// Runs a simulator of either kind up to its end; false: something ended it before `end`.
template <class Machine>
bool run_to(Machine& simulator, double end, const std::function<bool()>& stop) {
  constexpr double kBetweenStops = 60;
  while (simulator.now() < end && !simulator.out_of_memory() && !stop()) {
    simulator.run_until(std::min(end, simulator.now() + kBetweenStops));
  }
  return simulator.now() >= end;
}

ModelledFigures simulate_world(const tuner::PipelineModel& model,
                               const tuner::Allocation& allocation, double seconds,
                               std::uint64_t seed, const SimulationContext& context) {
  tuner::WorldSimulator simulator(model, seed, allocation);
  const double warm = seconds / 10;
  double paused_before = 0;
  std::vector<tuner::NodeTotals> before(simulator.nodes());
  if (run_to(simulator, warm, context.stop)) {
    simulator.observe();
    paused_before = simulator.paused_seconds();
    for (std::size_t k = 0; k < before.size(); ++k) before[k] = simulator.totals_of(k);
  }
  const double from = std::min(warm, simulator.now());
  run_to(simulator, seconds, context.stop);
  const double end = simulator.now();
  ModelledFigures figures{.allocation = allocation,
                          .measured = simulator.observe(),
                          .peak_memory_bytes = simulator.totals().memory_peak,
                          .out_of_memory = simulator.out_of_memory(),
                          .paused_seconds = simulator.paused_seconds() - paused_before};
  const double length = std::max(figures.seconds(), 1e-12);
  for (std::size_t k = 0; k < model.nodes.size(); ++k) {
    const tuner::NodeTotals sums = simulator.totals_of(k);
    figures.nodes.push_back(
        {.name = model.nodes[k].name,
         .splits_per_second = static_cast<double>(sums.trained - before[k].trained) / length,
         .cpus_used = (sums.cpu_seconds - before[k].cpu_seconds) / length,
         .peak_memory_bytes = sums.memory_peak,
         .out_of_memory = sums.out_of_memory});
  }
  if (!context.find_best) return figures;
  compare(figures, tuner::oracle_line(model, end, context.find_best), from, end);
  return figures;
}

}  // namespace

ModelledFigures simulate(const tuner::PipelineModel& model, const tuner::Allocation& allocation,
                         double seconds, std::uint64_t seed, const SimulationContext& context) {
  if (tuner::is_world(model)) return simulate_world(model, allocation, seconds, seed, context);
  tuner::Simulator simulator(model, seed);
  simulator.apply(allocation);
  const double warm = seconds / 10;
  if (run_to(simulator, warm, context.stop)) simulator.observe();
  run_to(simulator, seconds, context.stop);
  const double end = simulator.now();
  return {.allocation = allocation,
          .measured = simulator.observe(),
          .oracle_splits_per_second = oracle_rate(model, std::min(warm, end), end),
          .peak_memory_bytes = simulator.totals().memory_peak,
          .out_of_memory = simulator.out_of_memory()};
}

double usual_seconds(const tuner::PipelineModel& model) {
  constexpr double kSplits = 30'000;
  constexpr double kMostSeconds = 1e9;  // of a pipeline that hardly moves; events may be later
  constexpr double kAfterEvents = 300;
  const bool world = tuner::is_world(model);
  const double rate = world ? tuner::rate_bound(tuner::steady_part(tuner::model_at(model, 0)))
                            : tuner::oracle_of(model).splits_per_second;
  double last = model.events.empty() ? 0 : model.events.back().at_seconds + kAfterEvents;
  for (const tuner::ModelEvent& event : model.events) {
    last = std::max(last, event.at_seconds + event.over_seconds + kAfterEvents);
  }
  return std::max({120.0, last, rate > 0 ? std::min(kSplits / rate, kMostSeconds) : 0});
}

tuner::Allocation oracle_allocation(const tuner::PipelineModel& described,
                                    const tuner::FindBest& find_best) {
  const tuner::PipelineModel model = tuner::steady_part(tuner::model_at(described, 0));
  if (tuner::is_world(model) && find_best) return find_best(model).allocation;
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
