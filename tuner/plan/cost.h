#pragma once

#include <algorithm>

#include "tuner/allocation.h"

namespace forebay::tuner {

/// The cost of a stage, known or estimated: the universal scalability law (Gunther 1993) plus
/// waiting.
struct StageCost {
  double seconds = 0;   ///< One actor alone, per split.
  double cpu = 1;       ///< Share of that time on a CPU.
  double alpha = 0;     ///< Contention.
  double beta = 0;      ///< Coherency.
  double max_rate = 0;  ///< The most splits/s; 0: no limit.

  /// The factor by which n actors of the stage slow each other down; 1 for one actor.
  double slow(double n) const { return 1 + alpha * (n - 1) + beta * n * (n - 1); }
  /// The most splits/s that n actors complete if every actor gets a CPU at once.
  double rate(double n) const {
    const double free = n / (seconds * slow(n));
    return max_rate > 0 ? std::min(max_rate, free) : free;
  }
};

}  // namespace forebay::tuner
