#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace forebay {

/// What the machine grants a process now.
struct MachineLimits {
  int cpus = 1;
  std::uint64_t memory_bytes = ~std::uint64_t{0};
};

/// Reads the affinity of the calling thread and the limits of the process's cgroups.
MachineLimits machine_limits();

/// Notices when others change what the machine grants while a job runs: an affinity, a quota of
/// CPUs, a limit of memory. look() belongs to one thread; any thread may call the others.
class MachineWatch {
 public:
  using Read = std::function<MachineLimits()>;

  /// Reads the limits once; `read` is machine_limits() except in tests.
  explicit MachineWatch(Read read);

  /// Reads the limits again at every tenth call: once a second, in a tuner's steps. Returns whether
  /// it did.
  bool look();
  /// Reads the limits again, because this process has changed them.
  void refresh();

  int cpus() const { return cpus_.load(std::memory_order_relaxed); }
  std::uint64_t memory_bytes() const { return memory_.load(std::memory_order_relaxed); }

 private:
  const Read read_;
  int calls_ = 0;
  std::atomic<int> cpus_{1};
  std::atomic<std::uint64_t> memory_{~std::uint64_t{0}};
};

}  // namespace forebay
