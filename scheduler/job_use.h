#pragma once

#include <cstdint>
#include <tuple>

namespace forebay::scheduler {

/// What a process has used for one job, its opening included. Numbers are sums since then.
struct JobUse {
  std::uint64_t requests = 0;  ///< Asked of files and stores.
  std::uint64_t bytes = 0;     ///< What they brought.
  double joules = 0;
  bool counted = false;       ///< The joules are all of its machine's, by counters; else estimated.
  std::uint64_t machine = 0;  ///< Equal for the processes of a machine; 0: not known.
  static auto fields(auto& self) {
    return std::tie(self.requests, self.bytes, self.joules, self.counted, self.machine);
  }
  friend bool operator==(const JobUse&, const JobUse&) = default;
};

}  // namespace forebay::scheduler
