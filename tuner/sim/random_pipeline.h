#pragma once

#include <cstdint>

#include "tuner/sim/pipeline_model.h"

namespace forebay::tuner {

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
  bool events = false;  ///< One to four disturbances, each reverted.
};

/// A random modelled pipeline, on which policies are trained and compared. The same seed and
/// options give the same pipeline. One actor per stage with the default prefetch is always legal,
/// and with prefetch 1 also under every event.
PipelineModel random_pipeline(std::uint64_t seed, const RandomPipelineOptions& options = {});

}  // namespace forebay::tuner
