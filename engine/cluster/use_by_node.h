#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "scheduler/job_use.h"

namespace forebay {

/// What the workers of a job have used, by their names. A worker's process reports what it has used
/// so far, over several ways and perhaps out of order; what it reported stays when it dies, and a
/// later process of the same name adds to it. Pure state; its caller guards it.
class UseByNode {
 public:
  /// Joules that are not finite, and a report of nothing, do not count.
  void report(const std::string& node, std::uint64_t pid, const scheduler::JobUse& so_far);
  /// The joules of a node are counted if those of all its processes are.
  std::map<std::string, scheduler::JobUse> sums() const;

 private:
  std::map<std::string, std::map<std::uint64_t, scheduler::JobUse>> by_process_;
};

}  // namespace forebay
