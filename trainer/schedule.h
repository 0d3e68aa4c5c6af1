#pragma once

#include <algorithm>
#include <cstdint>

#include "trainer/spec.h"

namespace forebay {

/// The learning rate of the step on batch `number`, which counts from 0 over the whole job: rises
/// to `learning_rate` over the first `warmup_steps` steps, and from step `decay_start` on falls to
/// 0 over `decay_steps` with the square of the remaining share (MLPerf's DLRM). A function of the
/// number alone, so that a resumed run continues unchanged.
inline double learning_rate_at(const TrainerSpec& spec, std::uint64_t number) {
  double rate = spec.learning_rate;
  if (number < spec.warmup_steps) {
    rate *= static_cast<double>(number + 1) / static_cast<double>(spec.warmup_steps);
  }
  if (spec.decay_steps > 0 && number > spec.decay_start) {
    const std::uint64_t gone = std::min(number - spec.decay_start, spec.decay_steps);
    const double left =
        static_cast<double>(spec.decay_steps - gone) / static_cast<double>(spec.decay_steps);
    rate *= left * left;
  }
  return rate;
}

}  // namespace forebay
