#include "engine/emulated/one_node_world.h"

#include <memory>
#include <utility>

#include "engine/emulated/world_machine.h"
#include "tuner/world/world_layout.h"

namespace forebay {

OneNodeWorld::OneNodeWorld(const tuner::PipelineModel& model, std::uint64_t seed,
                           const Clock& clock, std::function<bool()> stopped)
    : model_(model), machine_(model_, seed, clock, std::move(stopped)) {}

double OneNodeWorld::paused_seconds() const { return tuner::paused_between(model_, 0, now()); }

tuner::NodeTotals OneNodeWorld::totals_of(std::size_t) const {
  const tuner::SimTotals all = machine_.totals();
  return {.trained = all.trained,
          .cpu_seconds = all.cpu_seconds,
          .memory_peak = all.memory_peak,
          .out_of_memory = all.out_of_memory};
}

tuner::WorldMaker emulated_worlds(const Clock& clock, std::function<bool()> stopped) {
  return [&clock, stopped = std::move(stopped)](
             const tuner::PipelineModel& model,
             std::uint64_t seed) -> Result<std::unique_ptr<tuner::ModelledWorld>> {
    if (const auto one_node = tuner::as_one_node(model)) {
      return std::make_unique<OneNodeWorld>(*one_node, seed, clock, stopped);
    }
    auto machine = WorldMachine::make(model, seed, clock);
    if (!machine) return pass(machine);
    return std::move(*machine);
  };
}

}  // namespace forebay
