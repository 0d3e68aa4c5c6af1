#pragma once

#include "tuner/compare/trace.h"

namespace forebay::tuner {

/// Where a run lost what the oracle has: parts of its whole time, which add up to
/// 1 - ratio_overall.
struct Shortfall {
  double start = 0;         ///< In the first ten periods (until the first change, where sooner).
  double after_events = 0;  ///< In the ten periods after each change.
  double steady = 0;        ///< In all others.
  double dead = 0;          ///< After running out of memory.
};

Shortfall shortfall_of(const Trace& trace);

}  // namespace forebay::tuner
