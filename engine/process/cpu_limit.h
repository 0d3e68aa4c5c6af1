#pragma once

#include <sched.h>

#include <memory>

#include "core/base/result.h"
#include "core/base/thread_group.h"

namespace forebay {

/// Keeps this process, or a group of its threads, on some of the CPUs it may use. Made before the
/// first limit is set, since it remembers which those are.
class CpuLimit {
 public:
  /// `place`: how many processes of this job on this machine come before this one; they keep to
  /// other CPUs as long as there are any.
  explicit CpuLimit(int place = 0);
  /// Keeps the threads of `group` alone.
  explicit CpuLimit(std::shared_ptr<const ThreadGroup> group);

  /// CPUs it can be given.
  int most() const { return CPU_COUNT(&allowed_); }

  /// Keeps every thread, and all that they start from now on, on `cpus` of them, or on all when
  /// there are not so many. Any thread.
  Status set(int cpus) const;

 private:
  const int place_ = 0;
  const std::shared_ptr<const ThreadGroup> group_;  // null: all threads
  cpu_set_t allowed_;
};

}  // namespace forebay
