#pragma once

#include "tuner/compare/trace.h"

namespace forebay::tuner {

/// The parts of a run's time in which it trained less than the oracle, as shares of the oracle's
/// splits; they add up to 1 - ratio_overall.
struct Shortfall {
  double start = 0;         ///< In the first ten periods (or until the first change, if sooner).
  double after_events = 0;  ///< In the ten periods after each change.
  double steady = 0;        ///< In all other periods.
  double dead = 0;          ///< After running out of memory.
};

Shortfall shortfall_of(const Trace& trace);

}  // namespace forebay::tuner
