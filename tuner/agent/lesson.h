#pragma once

#include <cstdint>
#include <vector>

#include "tuner/agent/features.h"

namespace forebay::tuner {

/// One thing learnt: what an action brought over leaving its branch alone, in per cent of the
/// reward.
struct Lesson {
  std::vector<Features> rows;  ///< One for a stage's step, all of them for prefetch.
  std::uint8_t output = 0;     ///< Which of Outputs (actions.h).
  float advantage = 0;
};

}  // namespace forebay::tuner
