#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tuner/compare/trace.h"

namespace forebay::tuner {

/// How a run came back after something changed.
struct Recovery {
  double at_seconds = 0;
  std::optional<std::uint64_t> decisions_to_95;  ///< As RunFigures', from the first decision at or
                                                 ///< after the change.
};

/// What a run is judged by. A ratio is splits trained over what the oracle trains in that time.
struct RunFigures {
  double ratio_overall = 0;              ///< From the first decision to the last.
  std::optional<double> ratio_after_30;  ///< From decision 31 on; none where there is no such time.
  double ratio_final = 0;                ///< Over the last ten periods.
  /// The number k, counted from 1, of the first decision from which on three periods together make
  /// 95 % of the oracle; none if never before the next change.
  std::optional<std::uint64_t> decisions_to_95;
  std::vector<Recovery> recoveries;  ///< One a moment with events that the run reached.
  double cpus_used = 0;              ///< Busy from the first decision to the last, mean.
  double actors = 0;                 ///< Mean of the last ten periods,
  std::uint32_t actors_fewest = 0;   ///< and what the oracle has at the end.
  std::uint64_t memory_peak = 0;     ///< Of the whole run.
};

/// Judges a run. `cpus_used` and `actors` of one that ran out of memory are of the time before.
RunFigures figures_of(const Trace& trace);

}  // namespace forebay::tuner
