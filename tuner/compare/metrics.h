#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tuner/compare/drive.h"

namespace forebay::tuner {

/// How a run recovered after a change.
struct Recovery {
  double at_seconds = 0;
  std::optional<std::uint64_t> decisions_to_95;  ///< As RunFigures', from the first decision at or
                                                 ///< after the change.
};

/// The figures by which a run is judged. A ratio is the splits trained over the splits that the
/// oracle trains in the same time.
struct RunFigures {
  double ratio_overall = 0;              ///< From the first decision to the last.
  std::optional<double> ratio_after_30;  ///< From decision 31 on; empty if there is no such time.
  double ratio_final = 0;                ///< Over the last ten periods.
  /// The number k, counted from 1, of the first decision from which on three periods together reach
  /// 95 % of the oracle; empty if that never happens before the next change.
  std::optional<std::uint64_t> decisions_to_95;
  std::vector<Recovery> recoveries;  ///< One per moment with events that the run reached.
  double cpus_used = 0;              ///< Mean of busy CPUs from the first decision to the last.
  double actors = 0;                 ///< Mean of the last ten periods.
  std::uint32_t actors_fewest = 0;   ///< Actors of the oracle at the end.
  std::uint64_t memory_peak = 0;     ///< Maximum over the whole run.
};

/// Computes a run's figures. `cpus_used` and `actors` of a run that ran out of memory cover the
/// time before.
RunFigures figures_of(const Trace& trace);

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
