#include "engine/cluster/use_by_node.h"

#include <algorithm>
#include <cmath>

namespace forebay {

using scheduler::JobUse;

void UseByNode::report(const std::string& node, std::uint64_t pid, const JobUse& so_far) {
  if (so_far == JobUse{}) return;
  JobUse& kept = by_process_[node][pid];
  kept.requests = std::max(kept.requests, so_far.requests);
  kept.bytes = std::max(kept.bytes, so_far.bytes);
  kept.machine = so_far.machine;
  if (!std::isfinite(so_far.joules) || so_far.joules <= 0) return;
  // A process that has lost its counters estimates from then on, perhaps less than it had counted.
  if (so_far.counted == kept.counted) {
    kept.joules = std::max(kept.joules, so_far.joules);
  } else if (kept.joules == 0 || !so_far.counted) {
    kept.joules = so_far.joules;
    kept.counted = so_far.counted;
  }
}

std::map<std::string, JobUse> UseByNode::sums() const {
  std::map<std::string, JobUse> sums;
  for (const auto& [node, processes] : by_process_) {
    JobUse& sum = sums[node];
    sum.counted = true;
    for (const auto& [pid, use] : processes) {
      sum.requests += use.requests;
      sum.bytes += use.bytes;
      sum.joules += use.joules;
      sum.counted = sum.counted && use.counted;
      sum.machine = use.machine;
    }
  }
  return sums;
}

}  // namespace forebay
