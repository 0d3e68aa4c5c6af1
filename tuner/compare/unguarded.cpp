#include "tuner/compare/unguarded.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "core/base/seconds.h"

namespace forebay::tuner {
namespace {

bool possible(const Allocation& allocation, std::size_t stages) {
  return allocation.actors.size() == stages &&
         std::ranges::find(allocation.actors, 0U) == allocation.actors.end() &&
         allocation.prefetch > 0;
}

}  // namespace

Unguarded::Unguarded(TunedPipeline& tuned_pipeline, std::unique_ptr<Policy> policy,
                     const Clock& clock)
    : tuned_pipeline_(tuned_pipeline), policy_(std::move(policy)), clock_(clock) {}

Decision Unguarded::decide() {
  Decision decision;
  decision.seen = tuned_pipeline_.observe();
  const auto began = clock_.now();
  try {
    decision.proposal = policy_->decide(decision.seen);
  } catch (const std::exception& thrown) {
    decision.fault = std::string("threw: ") + thrown.what();
  }
  decision.decide_seconds = in_seconds(clock_.now() - began);
  if (!decision.fault.empty()) return decision;
  if (possible(decision.proposal.allocation, tuned_pipeline_.description().stages.size())) {
    decision.applied = decision.proposal.allocation;
    tuned_pipeline_.apply(decision.applied);
  } else {
    decision.fault = "proposes no allocation";
  }
  return decision;
}

}  // namespace forebay::tuner
