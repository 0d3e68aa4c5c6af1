#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tuner/emulated/emulated_machine.h"
#include "tuner/world/modelled_world.h"

namespace forebay {

/// An emulated world of one node, which needs neither head nor network: an EmulatedMachine, whose
/// only node is the trainer's.
class OneNodeWorld final : public tuner::ModelledWorld {
 public:
  /// `model` has no named nodes (as_one_node). `clock` must be the machine's monotonic clock;
  /// `stopped`, called ten times a second, ends run_until().
  OneNodeWorld(const tuner::PipelineModel& model, std::uint64_t seed, const Clock& clock,
               std::function<bool()> stopped);

  void run_until(double seconds) override { machine_.run_until(seconds); }
  const tuner::PipelineDescription& description() const override { return machine_.description(); }
  tuner::CurrentState current() const override { return machine_.current(); }
  tuner::Observation observe() override { return machine_.observe(); }
  void apply(const tuner::Allocation& allocation) override { machine_.apply(allocation); }
  tuner::SimTotals totals() const override { return machine_.totals(); }

  std::size_t nodes() const override { return 1; }
  double now() const override { return machine_.now(); }
  double paused_seconds() const override;
  bool present(std::size_t) const override { return true; }
  tuner::PipelineDescription description_of(std::size_t) const override { return description(); }
  tuner::CurrentState current_of(std::size_t) const override { return current(); }
  tuner::Observation observe_node(std::size_t) override { return observe(); }
  void apply_to(std::size_t, const tuner::Allocation& allocation) override { apply(allocation); }
  void set_fed(std::size_t, bool) override {}
  tuner::NodeTotals totals_of(std::size_t) const override;
  std::optional<Error> failure() const override { return machine_.failure(); }

 private:
  const tuner::PipelineModel model_;
  tuner::EmulatedMachine machine_;
};

/// Makes emulated worlds, of one node or of several. When `stopped` returns true, the runs of those
/// of one node return at once. The clock outlives the worlds.
tuner::WorldMaker emulated_worlds(const Clock& clock, std::function<bool()> stopped);

}  // namespace forebay
