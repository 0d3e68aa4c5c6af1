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

/// The distribution of random pipelines. Shares are chances per pipeline, 0 to 1.
struct RandomPipelineOptions {
  std::uint32_t fewest_stages = 3;
  std::uint32_t most_stages = 9;
  double fewest_cpus = 8;
  double most_cpus = 128;
  double contended = 2.0 / 3;  ///< Some stages contend: alpha to 0.05, beta to 0.002.
  double waiting = 1.0 / 3;    ///< One or two stages mostly wait: cpu 0.02 to 0.3, up to 1.5 s.
  double rate_limited = 0.25;  ///< One stage has a max_rate near what the rest can do.
  double trainer_bound = 0.2;  ///< The trainer takes 0.3 to 0.9 of what could be delivered.
  double memory_tight = 0.25;  ///< The best allocation without a limit hardly fits, or not.
  double most_noise = 0.5;     ///< Coefficients of variation; one pipeline in eight has no noise.
  double fewest_splits_per_second = 20;  ///< Of the rate that the CPUs alone allow.
  double most_splits_per_second = 400;
  bool events = false;  ///< One to four disturbances, each reverted (random_events.h).
};

/// A random modelled pipeline, on which policies are trained and compared. The same seed and
/// options give the same pipeline. One actor per stage with the default prefetch is always legal,
/// and with prefetch 1 also under every event.
PipelineModel random_pipeline(std::uint64_t seed, const RandomPipelineOptions& options = {});

}  // namespace forebay::tuner
