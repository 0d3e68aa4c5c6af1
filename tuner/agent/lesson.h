#pragma once

#include <cstdint>
#include <vector>

#include "tuner/agent/features.h"

namespace forebay::tuner {

/// One training sample: the advantage of an action over leaving its branch unchanged, in per cent
/// of the reward.
struct Lesson {
  std::vector<Features> rows;  ///< One row for a stage's step, all rows for prefetch.
  std::uint8_t output = 0;     ///< Index into Outputs (actions.h).
  float advantage = 0;
};

}  // namespace forebay::tuner
