#include "engine/cluster/node_capacity.h"

#include <algorithm>
#include <cmath>

namespace forebay {
namespace {

constexpr double kForget = 0.7;    // weight of what was seen before, per interval
constexpr double kFewSplits = 2;   // fewer tell nothing
constexpr double kBusy = 0.9;      // a share of time from which the node counts as busy
constexpr int kSame = 3;           // busy intervals with the same actors
constexpr double kLeast = 0.1;     // of the prediction
constexpr double kNewShare = 0.5;  // weight of the last interval
constexpr int kHalvings = 30;

}  // namespace

void NodeCapacity::add(const StageWork& work) {
  const tuner::Observation& seen = work.seen;
  costs_.work_seconds.resize(seen.stages.size());
  costs_.splits = kForget * costs_.splits + work.splits;
  double cpu = seen.other_cpu_seconds;
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const tuner::StageObservation& stage = seen.stages[i];
    const double ready =
        stage.done_seconds > 0 ? std::min(1.0, stage.done_ready_seconds / stage.done_seconds) : 0;
    costs_.work_seconds[i] = kForget * costs_.work_seconds[i] + stage.working_seconds * (1 - ready);
    cpu += stage.cpu_seconds;
  }
  costs_.cpu_seconds = kForget * costs_.cpu_seconds + cpu;
}

bool NodeCapacity::feasible(double rate, const tuner::Observation& seen) const {
  if (rate * costs_.cpu_seconds > costs_.splits * seen.limits.cpus) return false;
  double total = 0;
  for (std::size_t i = 0; i < costs_.work_seconds.size(); ++i) {
    const double actors = rate * costs_.work_seconds[i] / costs_.splits;
    const double most = tuned_ ? description_.stages[i].max_actors : seen.stages[i].actors;
    if (actors > most) return false;
    total += std::max(1.0, std::ceil(actors));
  }
  return !tuned_ || description_.max_actors == 0 || total <= description_.max_actors;
}

double NodeCapacity::predicted(const tuner::Observation& seen) const {
  double low = 0;
  double high = 1;
  constexpr double kFastest = 1e9;
  while (high < kFastest && feasible(high, seen)) high *= 2;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (feasible(middle, seen) ? low : high) = middle;
  }
  return low;
}

// While a tuner still moves actors, what the node makes is not what it could make.
void NodeCapacity::compare(const StageWork& work, double predicted) {
  std::vector<std::uint32_t> actors = work.seen.allocation().actors;
  const bool same = actors == actors_ && work.busy >= kBusy;
  actors_ = std::move(actors);
  same_ = same ? same_ + 1 : 0;
  const double share = work.splits / work.seen.seconds / predicted;
  if (same_ >= kSame) {
    reached_ += kNewShare * (std::clamp(share, kLeast, 1.0) - reached_);
  } else {
    reached_ = std::clamp(share, reached_, 1.0);  // It makes at least what it made.
  }
}

void NodeCapacity::observe(const StageWork& work) {
  if (work.seen.seconds <= 0 || work.seen.stages.size() != description_.stages.size()) return;
  add(work);
  if (costs_.splits < kFewSplits) return;
  const double most = predicted(work.seen);
  if (most <= 0) return;
  compare(work, most);
  rate_.store(most * reached_, std::memory_order_relaxed);
}

}  // namespace forebay
