#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/bench/bench_data.h"

namespace forebay {

struct TunerBenchOptions {
  int rounds = 5;                      ///< Each measures everything once; the figures are medians.
  std::uint64_t pipelines = 4;         ///< Random pipelines of 9 stages on 128 CPUs, in each round.
  double simulated_seconds = 120;      ///< Simulated time of each pipeline.
  std::string policy = "intune";       ///< The policy to measure.
  std::function<bool()> stopped = {};  ///< Called between pipelines; empty: no stop.
};

/// Measures the cost of tuning in CPU time of one core, compared with its limits:
/// `simulator_steps`, splits through stages a second; `decision` of the policy, `guard_step` and
/// `plan` (the best allocation for known costs), in seconds; `tuner_cpu`, the share of a core used
/// by one decision every 2 s and ten guard steps a second. kInvalid names a policy that does not
/// exist.
Result<std::vector<BenchResult>> bench_tuner(const TunerBenchOptions& options);

}  // namespace forebay
