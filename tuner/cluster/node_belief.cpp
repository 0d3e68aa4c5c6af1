#include "tuner/cluster/node_belief.h"

#include <algorithm>

#include "tuner/model/expected_rate.h"

namespace forebay::tuner {
namespace {

constexpr double kLinkBlocked = 0.25;  // a share of time from which the link is the limit
constexpr double kLinkFree = 0.03;     // a share below which it is not
constexpr double kNewRate = 0.4;       // weight of a new rate of the link
constexpr double kFading = 0.98;       // of the rate that was shown, an interval later
constexpr double kNewShown = 0.3;      // weight of a higher one: an interval may show a burst
constexpr double kFaster = 1.1;  // a link that is not at its limit carries at least so much more

bool idle(const Observation& seen) {
  return std::ranges::all_of(seen.stages, [](const StageObservation& stage) {
    return stage.done == 0 && stage.working_seconds <= 0;
  });
}

}  // namespace

void NodeBelief::observe(const NodeReport& report, bool waits) {
  if (!report.fresh) return;
  const Observation seen = plausible(report.description, report.seen);
  rate_ = report.seen.splits_per_second();
  made_ = seen.seconds > 0 ? static_cast<double>(seen.stages.back().done) / seen.seconds : 0;
  shown_rate_ = kFading * shown_rate_;
  shown_rate_ += kNewShown * std::max(0.0, rate_ - shown_rate_);
  if (idle(seen)) return;
  known_.observe(seen);
  if (!report.trainer) observe_link(report, waits);
}

void NodeBelief::observe_link(const NodeReport& report, bool waits) {
  const double ratio = report.way < report.ways.size() ? report.ways[report.way].ratio : 1;
  const double plain = rate_ / std::max(ratio, 1e-3);
  if (waits && report.blocked > kLinkBlocked && plain > 0) {
    link_rate_ = link_rate_ > 0 ? link_rate_ + kNewRate * (plain - link_rate_) : plain;
  } else if (link_rate_ > 0 && report.blocked < kLinkFree && plain > link_rate_ / kFaster) {
    link_rate_ = std::max(link_rate_, plain) * kFaster;
  }
}

bool NodeBelief::shown() const {
  return std::ranges::all_of(known_.stages(), [](const auto& stage) { return stage.seen(); });
}

PlannedNode NodeBelief::planned(const NodeReport& report) const {
  PlannedNode node{.description = report.description,
                   .costs = known_.mean(),
                   .loss_scale = known_.loss_scale(),
                   .limits = {.cpus = known_.cpus(), .memory_bytes = report.limits.memory_bytes},
                   .current = shaped(report.description, report.seen.allocation()),
                   .trainer = report.trainer,
                   .shown_rate = shown_rate_,
                   .link_rate = link_rate_,
                   .ways = report.ways};
  if (!(node.limits.cpus > 0)) node.limits.cpus = report.limits.cpus;
  for (const StageEstimate& stage : known_.stages()) node.noise.push_back(stage.noise());
  return node;
}

}  // namespace forebay::tuner
