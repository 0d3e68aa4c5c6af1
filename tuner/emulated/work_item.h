#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/runtime/synchronized.h"
#include "tuner/observation.h"

namespace forebay::tuner {

/// A split of a modelled pipeline: its bytes are counted but not allocated.
struct Split {
  std::uint64_t key = 0;
  double ready = 0;  ///< When the previous stage finished it, in seconds since the start.
};

/// One split in one actor, from the moment it is taken until its work is done. Belongs to the
/// actor; a VirtualMachine fills in the second half. Times in seconds since the machine's start.
struct WorkItem {
  std::size_t stage = 0;     ///< One past the last stage: the trainer.
  std::uint32_t actors = 1;  ///< Alive in the stage at the begin, including this one.
  double begin = 0;          ///< When the split was taken.

  double cpu_seconds = 0;   ///< CPU time needed.
  double wait_seconds = 0;  ///< Wait for disk or network, including a rate limit.
  double end = 0;           ///< When the work is done.

  double seconds() const { return end - begin; }
  /// Time spent waiting for a CPU.
  double ready_seconds() const { return seconds() - cpu_seconds - wait_seconds; }
};

/// Sums over the splits that a stage's actors completed since the last take(). Any thread.
class WorkSums {
 public:
  void add(const WorkItem& work) {
    const double ready = std::max(0.0, work.ready_seconds());
    const double unhindered = work.seconds() - ready;
    serial_([&] {
      ++sums_.done;
      sums_.done_seconds += work.seconds();
      sums_.done_seconds_squared += unhindered * unhindered;
      sums_.done_cpu_seconds += work.cpu_seconds;
      sums_.done_ready_seconds += ready;
      sums_.done_actors += work.actors;
    });
  }

  /// Returns the `done` fields and resets them; the other fields have their defaults.
  StageObservation take() {
    return serial_([this] { return std::exchange(sums_, {}); });
  }

 private:
  Synchronized<> serial_;
  StageObservation sums_;  // under the lock
};

}  // namespace forebay::tuner
