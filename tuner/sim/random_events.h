#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/random.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay::tuner {

/// Draws random numbers from the distributions of pipelines. A value.
class ValueSampler {
 public:
  explicit ValueSampler(std::uint64_t seed) : random_(seed) {}

  bool chance(double share) { return random_.uniform() < share; }
  double uniform(double low, double high) { return low + (high - low) * random_.uniform(); }
  double log_uniform(double low, double high) {
    return low * std::exp(random_.uniform() * std::log(high / low));
  }
  /// A whole number, both ends included.
  std::uint32_t whole(std::uint32_t low, std::uint32_t high) {
    return low + random_.below(high - low + 1);
  }

 private:
  Random random_;
};

/// One to four disturbances of `model`, each reverted 120 to 300 s later, the next as long after
/// that: a stage that takes four times as long, half or twice the CPUs, a third of a stage's rate,
/// half the memory (one actor per stage with prefetch 1 stays legal), another trainer.
std::vector<ModelEvent> random_events(const PipelineModel& model, ValueSampler& sampler);

}  // namespace forebay::tuner
