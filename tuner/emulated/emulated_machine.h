#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "tuner/emulated/machine_thread.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/simulator.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// A modelled pipeline on the real runtime, in real time: real actors, mailboxes, credits, a
/// trainer's thread; only the work is a sleep. What the simulator computes, this lets happen.
///
/// Starts at once, with one actor a stage. `observe` and `apply` belong to the tuner's thread, the
/// rest to any. After running out of memory no split's work ends any more. Its threads end with it.
class EmulatedMachine final : public TunedPipeline {
 public:
  /// `clock` is the machine's monotonic clock: sleeps are real.
  EmulatedMachine(const PipelineModel& model, std::uint64_t seed, const Clock& clock);
  ~EmulatedMachine() override;
  EmulatedMachine(const EmulatedMachine&) = delete;
  EmulatedMachine& operator=(const EmulatedMachine&) = delete;

  /// Sleeps until so many seconds since the start have passed; less when it runs out of memory or
  /// `stopped`, asked ten times a second, says so.
  void run_until(
      double seconds, const std::function<bool()>& stopped = [] { return false; });

  const PipelineDescription& description() const override;
  CurrentState current() const override;
  Observation observe() override;
  void apply(const Allocation& allocation) override;

  double now() const;
  bool out_of_memory() const;
  SimTotals totals() const;
  /// The model as it stands now: what an oracle may look at.
  PipelineModel model() const;
  /// How well this machine keeps time: figures mean little where threads wake late.
  Lateness lateness() const;
  /// A thread that the system did not have.
  std::optional<Error> failure() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace forebay::tuner
