#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "tuner/sim/pipeline_model.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Sums since a machine's start: what a comparison measures by, and no policy sees.
struct MachineTotals {
  double seconds = 0;         ///< It has run.
  std::uint64_t trained = 0;  ///< Splits the trainer finished.
  double cpu_seconds = 0;     ///< CPU time of all stages.
  bool out_of_memory = false;
};

/// A modelled pipeline that runs, in simulated or in real time: what a comparison drives.
class Machine {
 public:
  virtual ~Machine() = default;

  virtual TunedPipeline& tuned_pipeline() = 0;
  /// Goes on until `seconds` since its start, or a little later where time is real.
  virtual void run_until(double seconds) = 0;
  virtual MachineTotals totals() const = 0;
};

/// Starts the machine of a pipeline, with one actor a stage. Any thread may call it.
using MachineMaker =
    std::function<std::unique_ptr<Machine>(const PipelineModel& model, std::uint64_t seed)>;

}  // namespace forebay::tuner
