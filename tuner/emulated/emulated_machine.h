#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "tuner/emulated/machine_thread.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/simulator.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// A modelled pipeline on the real runtime, in real time: real actors, mailboxes and credits, and a
/// trainer's thread; only the work is replaced by sleeps.
///
/// Starts at once, with one actor per stage. `observe` and `apply` belong to the tuner's thread,
/// the other methods to any thread. After running out of memory no split is completed any more. The
/// destructor ends its threads.
class EmulatedMachine final : public TunedPipeline {
 public:
  /// `clock` must be the machine's monotonic clock: the sleeps are real.
  EmulatedMachine(const PipelineModel& model, std::uint64_t seed, const Clock& clock);
  ~EmulatedMachine() override;
  EmulatedMachine(const EmulatedMachine&) = delete;
  EmulatedMachine& operator=(const EmulatedMachine&) = delete;

  /// Sleeps until `seconds` seconds since the start have passed; returns earlier if the machine
  /// runs out of memory or `stopped`, called ten times a second, returns true.
  void run_until(
      double seconds, const std::function<bool()>& stopped = [] { return false; });

  const PipelineDescription& description() const override;
  CurrentState current() const override;
  Observation observe() override;
  void apply(const Allocation& allocation) override;

  double now() const;
  bool out_of_memory() const;
  SimTotals totals() const;
  /// The model with the events so far applied; for an oracle.
  PipelineModel model() const;
  /// How late threads wake on this machine; if they wake late, the figures mean little.
  Lateness lateness() const;
  /// The error if the system could not start a thread.
  std::optional<Error> failure() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace forebay::tuner
