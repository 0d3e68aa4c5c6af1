#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// One energy counter of the kernel's powercap tree: a socket, or the memory beside it.
struct RaplZone {
  std::string name;         ///< `package-0`, `dram`
  std::string path;         ///< The file with the counter, in microjoules.
  std::uint64_t range = 0;  ///< The counter's largest value, after which it is 0 again.

  bool operator==(const RaplZone&) const = default;
};

/// Returns the counters under `root` that add up to the machine's: each package once, and its
/// memory. kNotFound: there are none.
Result<std::vector<RaplZone>> rapl_zones(const std::string& root);

/// Returns the microjoules between two readings of a counter that wrapped around at most once.
std::uint64_t microjoules_between(std::uint64_t before, std::uint64_t now, std::uint64_t range);

/// Adds up what the counters of a tree have counted since it was opened.
///
/// Belongs to one thread at a time. Call look() at least once between two wrap-arounds: a socket of
/// 500 W wraps after two minutes at the least. A counter that cannot be read any more is an error
/// of look(), and of every one after it: the sum has a gap.
class RaplCounters {
 public:
  /// kNotFound: no counter is there; kUnavailable, kCorrupt: one cannot be read, named with the
  /// reason.
  static Result<RaplCounters> open(const std::string& root);

  Status look();
  /// The sum up to the last look().
  double joules() const { return static_cast<double>(microjoules_) * 1e-6; }

 private:
  struct Counter {
    RaplZone zone;
    std::uint64_t last = 0;
  };

  std::vector<Counter> counters_;
  std::uint64_t microjoules_ = 0;
  Status failed_;
};

}  // namespace forebay
