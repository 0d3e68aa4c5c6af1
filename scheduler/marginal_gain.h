#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "scheduler/scale_input.h"

namespace forebay::scheduler {

/// Measures what workers that came later bring: of the splits that they make, the share that the
/// workers before them did not lose.
///
/// Workers that share a limit (a store, a disk) take from each other what they make; each of them
/// looks busy. Workers that died meanwhile count on neither side, and workers of another speed do
/// not disturb. A value.
class MarginalGain {
 public:
  /// The workers before the growth, at full work; `taken`: what the trainer then got.
  MarginalGain(const std::vector<WorkerSeen>& before, double taken) : taken_(taken) {
    for (const WorkerSeen& worker : before) before_[worker.id] = worker.rate;
  }

  /// The number of workers before, and the splits per second that the trainer got.
  std::uint32_t workers() const { return static_cast<std::uint32_t>(before_.size()); }
  double taken() const { return taken_; }

  struct Result {
    double added = 0;   ///< The new workers' rate as a share of all workers' rate.
    double useful = 1;  ///< The share of what the new workers make that is a gain.
  };
  Result measure(const std::vector<WorkerSeen>& now) const {
    double lost = 0;
    double fresh = 0;
    double all = 0;
    for (const WorkerSeen& worker : now) {
      all += worker.rate;
      const auto found = before_.find(worker.id);
      if (found == before_.end()) {
        fresh += worker.rate;
      } else {
        lost += found->second - worker.rate;
      }
    }
    if (fresh <= 0) return {};
    return {.added = fresh / all, .useful = 1 - std::clamp(lost / fresh, 0.0, 1.0)};
  }

 private:
  std::map<std::uint64_t, double> before_;  // rates by worker
  double taken_;
};

}  // namespace forebay::scheduler
