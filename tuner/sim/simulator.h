#pragma once

#include <cstdint>
#include <memory>

#include "tuner/sim/pipeline_model.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Sums since the start, for figures; a policy sees only Observation.
struct SimTotals {
  double seconds = 0;
  std::uint64_t trained = 0;  ///< Splits the trainer finished.
  std::uint64_t steps = 0;    ///< Splits through stages: measures the simulator's own speed.
  double trainer_wait_seconds = 0;
  double cpu_seconds = 0;  ///< CPU time of all stages.
  std::uint64_t memory_peak = 0;
};

/// A modelled pipeline as a discrete-event simulation, exact in the semantics of README.md here.
///
/// Deterministic: the same model, seed and calls give the same results to the bit. One thread.
/// After running out of memory it stands still. Guarded callers go through Guard; apply() accepts
/// every allocation with at least one actor per stage, even an illegal one, for policies without a
/// guard.
class Simulator final : public TunedPipeline {
 public:
  Simulator(const PipelineModel& model, std::uint64_t seed);
  ~Simulator() override;
  /// A copy continues independently, with the same random numbers ahead.
  Simulator(const Simulator& other);
  Simulator& operator=(const Simulator&) = delete;

  void run_until(double seconds);

  const PipelineDescription& description() const override;
  CurrentState current() const override;
  Observation observe() override;
  void apply(const Allocation& allocation) override;

  double now() const;
  bool out_of_memory() const;
  SimTotals totals() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace forebay::tuner
