#pragma once

#include <sched.h>

#include <memory>

#include "core/base/result.h"
#include "core/base/start_thread.h"

namespace forebay {

/// Limits this process, or a group of its threads, to some of the CPUs it may use. Create it before
/// the first limit is set, since it records the allowed CPUs.
class CpuLimit {
 public:
  /// `place`: number of processes of this job on this machine that come before this one. Each
  /// process uses other CPUs as long as there are enough.
  explicit CpuLimit(int place = 0);
  /// Limits only the threads of `group`.
  explicit CpuLimit(std::shared_ptr<const ThreadGroup> group);

  /// Returns the number of CPUs it can use.
  int most() const { return CPU_COUNT(&allowed_); }

  /// Limits every thread, and all threads that they start later, to `cpus` CPUs, or to all if there
  /// are fewer. Any thread.
  Status set(int cpus) const;

 private:
  const int place_ = 0;
  const std::shared_ptr<const ThreadGroup> group_;  // null: all threads
  cpu_set_t allowed_;
};

}  // namespace forebay
