#pragma once

#include <chrono>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/runtime/executor/executor.h"

namespace forebay {

/// Finds the turns that hold a thread for a second or longer, by looking at what runs.
///
/// A turn costs no clock reading that way. A turn counts from the first look that saw it; if two
/// looks are far apart, the process was stopped or got no CPU, and all turns count anew. Not
/// thread-safe.
class LongTurns {
 public:
  using Time = std::chrono::nanoseconds;

  static constexpr std::chrono::milliseconds kLookInterval{250};
  static constexpr std::chrono::seconds kLong{1};

  struct Held {
    const Resumable* work;  ///< May be gone by now: compare it, do not use it.
    Time time;              ///< At least so long.
  };

  /// `running`: the turns under way at `now`. Returns those that are long; each turn once.
  std::vector<Held> look(Time now, const std::vector<SharedExecutor::RunningTurn>& running);

 private:
  struct Seen {
    Time first;
    bool is_returned = false;
  };

  Time last_look_{0};
  std::unordered_map<std::uint64_t, Seen> turns_;  // by number; those of the last look
};

}  // namespace forebay
