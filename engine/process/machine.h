#pragma once

#include <sched.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/thread/start_thread.h"

namespace forebay {

/// Returns the number of CPUs this process may use: those of its affinity mask, but not more than
/// its cgroup's quota (rounded up). At least 1.
int available_cpus();

/// Returns the bytes of memory this process could still allocate: what the kernel reports as
/// available, but not more than the limits of the process's cgroups.
std::uint64_t available_memory();

/// Returns the smallest limit of the process's cgroups; the largest number if there is no limit.
std::uint64_t cgroup_memory();

/// Returns the number after `key` in a /proc table such as `MemAvailable:  123 kB`, in bytes;
/// nullopt if the key is missing.
std::optional<std::uint64_t> proc_bytes(std::string_view table, std::string_view key);

/// Returns the CPUs of a cgroup's `cpu.max` (`200000 100000` is 2), rounded up; nullopt for `max`.
std::optional<int> quota_cpus(std::string_view cpu_max);

/// Returns the content of a file of /proc or /sys; "" if it cannot be read.
std::string proc_text(const std::string& path);

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

  /// Returns their numbers, in order.
  std::vector<int> numbers() const;

  /// Limits every thread, and all threads that they start later, to `cpus` CPUs, or to all if there
  /// are fewer. Any thread.
  Status set(int cpus) const;

 private:
  const int place_ = 0;
  const std::shared_ptr<const ThreadGroup> group_;  // null: all threads
  cpu_set_t allowed_;
};

}  // namespace forebay
