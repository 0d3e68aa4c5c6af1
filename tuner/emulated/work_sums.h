#pragma once

#include <algorithm>
#include <utility>

#include "core/runtime/synchronized.h"
#include "tuner/emulated/work_item.h"
#include "tuner/observation.h"

namespace forebay::tuner {

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
