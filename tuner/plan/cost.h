#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tuner/allocation.h"

namespace forebay::tuner {

/// What a stage costs, known or estimated: the universal scalability law (Gunther 1993) plus
/// waiting.
struct StageCost {
  double seconds = 0;   ///< Of one actor alone for one split.
  double cpu = 1;       ///< Share of it on a CPU.
  double alpha = 0;     ///< Contention,
  double beta = 0;      ///< and coherency.
  double max_rate = 0;  ///< Splits/s it can never exceed; 0: none.

  /// What n actors of the stage cost each other, 1 for one actor.
  double slow(double n) const { return 1 + alpha * (n - 1) + beta * n * (n - 1); }
  /// Splits/s that n actors complete at most while nobody waits for a CPU.
  double rate(double n) const {
    const double free = n / (seconds * slow(n));
    return max_rate > 0 ? std::min(max_rate, free) : free;
  }
};

}  // namespace forebay::tuner
