#pragma once

#include <cstdint>
#include <tuple>

namespace forebay::scheduler {

/// What a process has asked of files and stores for one job, its opening included.
struct Reads {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  static auto fields(auto& self) { return std::tie(self.requests, self.bytes); }
  friend bool operator==(const Reads&, const Reads&) = default;
};

}  // namespace forebay::scheduler
