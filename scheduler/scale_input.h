#pragma once

#include <cstdint>
#include <vector>

namespace forebay::scheduler {

/// A worker in an interval, as it describes itself.
struct WorkerSeen {
  std::uint64_t id = 0;   ///< Its incarnation.
  double rate = 0;        ///< Splits per second that it made.
  double could_make = 0;  ///< Splits per second that it could make with enough leases; 0: unknown.
  double busy = 1;        ///< The share of time in which it had as much work as it takes, 0 to 1.
};

/// The input of an autoscaler: what happened in one interval.
struct ScaleInput {
  double seconds = 0;     ///< Without the trainer's pauses (checkpoints, evaluation).
  double taken = 0;       ///< Splits that the trainer took.
  double waited = 0;      ///< Seconds that it waited for data.
  double arrived = 0;     ///< Splits that became batches, waiting ones too.
  double local_rate = 0;  ///< Splits per second that the trainer's own node made.
  std::vector<WorkerSeen> workers = {};  ///< That make splits.
  std::uint32_t joining = 0;             ///< Workers that have joined and make no splits yet.
};

}  // namespace forebay::scheduler
