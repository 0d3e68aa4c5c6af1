#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "tuner/sim/pipeline_model.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Sums since a machine's start, which a comparison measures by; no policy sees them.
struct MachineTotals {
  double seconds = 0;         ///< Time that it has run.
  std::uint64_t trained = 0;  ///< Splits the trainer finished.
  double cpu_seconds = 0;     ///< CPU time of all stages.
  bool out_of_memory = false;
};

/// A running modelled pipeline, in simulated or in real time, that a comparison drives.
class Machine {
 public:
  virtual ~Machine() = default;

  virtual TunedPipeline& tuned_pipeline() = 0;
  /// Runs until `seconds` since its start; in real time possibly a little longer.
  virtual void run_until(double seconds) = 0;
  virtual MachineTotals totals() const = 0;
};

/// Starts the machine of a pipeline, with one actor per stage. Any thread may call it.
using MachineMaker =
    std::function<std::unique_ptr<Machine>(const PipelineModel& model, std::uint64_t seed)>;

/// Returns a maker of simulators: no waiting, deterministic by seed.
MachineMaker simulated_machines();

}  // namespace forebay::tuner
