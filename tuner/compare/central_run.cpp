#include "tuner/compare/central_run.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tuner/world/world_layout.h"
#include "tuner/world/world_sums.h"

namespace forebay::tuner {

/// A node that is observed together with all others.
class CentralRun::Part final : public TunedPipeline {
 public:
  Part(CentralRun& run, std::size_t node) : run_(run), node_(node), pipeline_(run.world_, node) {}

  const PipelineDescription& description() const override { return pipeline_.description(); }
  CurrentState current() const override { return pipeline_.current(); }
  Observation observe() override { return run_.observation_of(node_); }
  void apply(const Allocation& allocation) override { pipeline_.apply(allocation); }
  Observation observe_alone() { return pipeline_.observe(); }

 private:
  CentralRun& run_;
  std::size_t node_;
  NodePipeline pipeline_;
};

class CentralRun::PartPolicy final : public Policy {
 public:
  PartPolicy(CentralRun& run, std::size_t node) : run_(run), node_(node) {}

  std::string_view name() const override { return kCentralPolicy; }
  Proposal decide(const Observation&) override {
    NodeAdvice advice = run_.advice_for(node_);
    return {.allocation = std::move(advice.allocation),
            .expected_splits_per_second = advice.splits_per_second,
            .reason = run_.reason_};
  }

 private:
  CentralRun& run_;
  std::size_t node_;
};

CentralRun::CentralRun(ModelledWorld& world, const PipelineModel& model)
    : world_(world), own_(trainer_node_of(model)), unread_(world.nodes()), advice_(world.nodes()) {
  for (std::size_t k = 0; k < world.nodes(); ++k) {
    nodes_.push_back(std::make_unique<Part>(*this, k));
  }
}

CentralRun::~CentralRun() = default;

std::vector<DrivenPart> CentralRun::parts(const MakeFallback& fallback) {
  std::vector<DrivenPart> parts;
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    parts.push_back({.pipeline = *nodes_[k],
                     .policy = std::make_unique<PartPolicy>(*this, k),
                     .fallback = fallback(k),
                     .present = [this, k] { return world_.present(k); }});
  }
  return parts;
}

double CentralRun::mean_fed() const {
  constexpr std::size_t kLast = 10;
  const std::size_t counted = std::min(kLast, fed_.size());
  if (counted == 0) return 0;
  return std::accumulate(fed_.end() - static_cast<std::ptrdiff_t>(counted), fed_.end(), 0.0) /
         static_cast<double>(counted);
}

Observation CentralRun::observation_of(std::size_t node) {
  if (!unread_[node]) gather();
  unread_[node] = false;
  return seen_[node];
}

void CentralRun::gather() {
  seen_.clear();
  for (const auto& node : nodes_) seen_.push_back(node->observe_alone());
  unread_.assign(nodes_.size(), true);
  std::ranges::fill(advice_, std::nullopt);
}

TrainerReport CentralRun::trainer_report() {
  const SimTotals now = world_.totals();
  const double paused =
      world_.paused_seconds() - std::exchange(paused_before_, world_.paused_seconds());
  const TrainerReport report{
      .seconds = now.seconds - before_.seconds - paused,
      .waited_seconds = now.trainer_wait_seconds - before_.trainer_wait_seconds,
      .paused_seconds = paused};
  before_ = now;
  return report;
}

NodeAdvice CentralRun::advice_for(std::size_t node) {
  if (!advice_[node]) decide();
  return *std::exchange(advice_[node], std::nullopt);
}

void CentralRun::decide() {
  ClusterReport report{.at_seconds = world_.now(), .trainer = trainer_report()};
  std::vector<std::size_t> asked;
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    if (!world_.present(k)) continue;
    asked.push_back(k);
    report.nodes.push_back({.name = std::to_string(k),
                            .trainer = k == own_,
                            .description = nodes_[k]->description(),
                            .limits = seen_[k].limits,
                            .seen = seen_[k],
                            .blocked = blocked_share(seen_[k])});
  }
  ClusterAdvice advice = planner_.decide(report);
  reason_ = advice.reason;
  fed_.push_back(advice.fed);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    world_.set_fed(asked[i], advice.nodes[i].fed);
    advice_[asked[i]] = std::move(advice.nodes[i]);
  }
}

}  // namespace forebay::tuner
