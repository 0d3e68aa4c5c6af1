#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "scheduler/head/placement.h"
#include "scheduler/head/straggler.h"

namespace forebay::scheduler {

struct HeadOptions {
  std::chrono::nanoseconds lease = std::chrono::seconds(5);
  std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(250);
  std::uint32_t lost_after = 6;  ///< Heartbeats.
  /// How long a job waits for its trainer to return, and a head for its former workers.
  std::chrono::nanoseconds rejoin = std::chrono::seconds(60);
  PlacementPolicy placement = PlacementPolicy::kSpread;
  StragglerRule straggler;
  std::string version;            ///< The version that workers must have; empty: any.
  std::string operators;          ///< The operators that workers must have; empty: any.
  std::string trainer_host;       ///< The trainer's host, for `near`; empty: unknown.
  std::uint64_t trainer_pid = 0;  ///< Of the trainer in this head's process; 0: there is none.
  /// Called with a sentence for each event: a worker joins, is lost or is refused. On the head's
  /// thread.
  std::function<void(const std::string&)> say;
};

}  // namespace forebay::scheduler
