#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/runtime/stage_pool.h"
#include "tuner/emulated/emulated_pipeline.h"
#include "tuner/emulated/machine_thread.h"
#include "tuner/emulated/pipeline_observer.h"
#include "tuner/sim/simulator.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// A modelled pipeline on the real runtime, in real time: real actors, mailboxes and credits, and a
/// trainer's thread; only the work is replaced by sleeps.
///
/// Starts at once, with one actor per stage or the first allocation. `observe` and `apply` belong
/// to the tuner's thread, the other methods to any thread. After running out of memory no split is
/// completed any more. The destructor ends its threads.
class EmulatedMachine final : public ModelledPipeline {
 public:
  /// `clock` must be the machine's monotonic clock: the sleeps are real.
  EmulatedMachine(
      const PipelineModel& model, std::uint64_t seed, const Clock& clock,
      std::function<bool()> stopped = [] { return false; },
      const std::optional<Allocation>& first = {});
  ~EmulatedMachine() override;
  EmulatedMachine(const EmulatedMachine&) = delete;
  EmulatedMachine& operator=(const EmulatedMachine&) = delete;

  /// Sleeps until `seconds` seconds since the start have passed; returns earlier if the machine
  /// runs out of memory or `stopped`, called ten times a second, returns true.
  void run_until(double seconds) override;

  const PipelineDescription& description() const override { return description_; }
  CurrentState current() const override { return observer_.current(); }
  Observation observe() override;
  void apply(const Allocation& allocation) override;

  double now() const { return thread_.now(); }
  bool out_of_memory() const { return observer_.out_of_memory(); }
  SimTotals totals() const override;
  /// The model with the events so far applied; for an oracle.
  PipelineModel model() const { return thread_.model(); }
  /// How late threads wake on this machine; if they wake late, the figures mean little.
  Lateness lateness() const { return thread_.lateness(); }
  /// The error if the system could not start a thread.
  std::optional<Error> failure() const { return pipeline_.failure(); }

 private:
  const PipelineModel model_;
  const PipelineDescription description_;
  const std::function<bool()> stopped_;
  ActorTotals trainer_before_;  // tuner's thread only
  // What a look at the pools brings up to date is mutable.
  mutable MachineThread thread_;
  mutable PipelineObserver observer_;
  EmulatedPipeline pipeline_;
};

}  // namespace forebay::tuner
