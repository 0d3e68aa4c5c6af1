#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/bench/bench_result.h"

namespace forebay {

struct TunerBenchOptions {
  int rounds = 5;                      ///< Each measures everything once; the figures are medians.
  std::uint64_t pipelines = 4;         ///< Random ones of 9 stages on 128 CPUs, in each round.
  double simulated_seconds = 120;      ///< Of each.
  std::string policy = "intune";       ///< Whose decisions are measured.
  std::function<bool()> stopped = {};  ///< Asked between pipelines; empty: never.
};

/// What tuning costs, in CPU time of one core, against its limits: `simulator_steps`, splits
/// through stages a second; `decision` of the policy, `guard_step` and `plan` (the best allocation
/// for known costs), in seconds; `tuner_cpu`, the share of a core that a decision every 2 s and a
/// step ten times a second come to. kInvalid names a policy that is not there.
Result<std::vector<BenchResult>> bench_tuner(const TunerBenchOptions& options);

}  // namespace forebay
