#include "tuner/tuner.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "core/base/check.h"
#include "core/base/clock.h"

namespace forebay::tuner {
namespace {

constexpr int kMostFaults = 3;

/// Describes what is invalid in a proposal, so that the guard need not handle it; empty: valid.
std::string nonsense(const Proposal& proposal, const PipelineDescription& description) {
  const std::size_t stages = description.stages.size();
  if (proposal.allocation.actors.size() != stages) {
    return "proposes " + std::to_string(proposal.allocation.actors.size()) + " stages of " +
           std::to_string(stages);
  }
  for (std::size_t i = 0; i < stages; ++i) {
    if (proposal.allocation.actors[i] >= description.stages[i].least_actors) continue;
    return "proposes a stage without actors";
  }
  if (proposal.allocation.prefetch == 0) return "proposes a prefetch of 0";
  const double expected = proposal.expected_splits_per_second;
  if (!std::isfinite(expected) || expected < 0)
    return "expected_splits_per_second must be finite and at least 0";
  return {};
}

}  // namespace

Proposal ask_safely(Policy& policy, const PipelineDescription& description, const Observation& seen,
                    std::string& fault) {
  try {
    Proposal proposal = policy.decide(seen);
    fault = nonsense(proposal, description);
    return proposal;
  } catch (const std::exception& thrown) {
    fault = std::string("threw: ") + thrown.what();
  } catch (...) {
    fault = "threw";
  }
  return {};
}

Mode mode_named(std::string_view name) { return value_in(kModeNames, name).value_or(Mode::kOn); }

Tuner::Tuner(Options options)
    : options_(std::move(options)), guard_(options_.tuned_pipeline.description()) {
  FOREBAY_CHECK(options_.policy != nullptr);
  keep_what_stands();
}

void Tuner::keep_what_stands() {
  options_.tuned_pipeline.tick();
  const CurrentState now = options_.tuned_pipeline.current();
  guard_.admit(now.allocation(), now);
}

void Tuner::set_mode(Mode mode) {
  if (mode != options_.mode) keep_what_stands();
  options_.mode = mode;
}

void Tuner::step() {
  if (options_.mode == Mode::kOff) return;
  options_.tuned_pipeline.tick();
  lead();
}

void Tuner::lead() {
  const CurrentState now = options_.tuned_pipeline.current();
  guard_.learn(now);
  const Allocation next = guard_.step(now);
  if (next != now.allocation()) options_.tuned_pipeline.apply(next);
}

Decision Tuner::decide() {
  Decision decision;
  options_.tuned_pipeline.tick();
  decision.seen = options_.tuned_pipeline.observe();
  const CurrentState now = options_.tuned_pipeline.current();
  decision.applied = now.allocation();
  if (options_.mode == Mode::kOff) return decision;
  decision.number = ++decisions_;
  decision.expected_before = expected_;
  decision.measured = decision.seen.splits_per_second();
  const auto began = options_.clock.now();
  decision.proposal = ask(decision.seen, now, decision);
  decision.decide_seconds = in_seconds(options_.clock.now() - began);
  expected_ = decision.proposal.expected_splits_per_second;
  Guard trial = guard_;
  Verdict verdict = trial.admit(decision.proposal.allocation, now);
  decision.guarded = std::move(verdict.changes);
  if (options_.mode == Mode::kOn) {
    guard_ = std::move(trial);
    decision.applied = std::move(verdict.goal);
    lead();
  }
  if (options_.on_decision) options_.on_decision(decision);
  return decision;
}

Proposal Tuner::ask(const Observation& seen, const CurrentState& now, Decision& decision) {
  Proposal proposal = ask_policy(seen, decision);
  if (decision.fault.empty()) return proposal;
  decision.policy = "fallback";
  std::string fault = "none given";
  if (options_.fallback) {
    const PipelineDescription& description = options_.tuned_pipeline.description();
    proposal = ask_safely(*options_.fallback, description, seen, fault);
  }
  if (fault.empty()) return proposal;
  decision.fault += "; fallback: " + fault;
  return {now.allocation(), 0, "keeps what stands"};
}

Proposal Tuner::ask_policy(const Observation& seen, Decision& decision) {
  decision.policy = options_.policy->name();
  if (faults_ >= kMostFaults) {
    decision.fault =
        decision.policy + " is not asked after " + std::to_string(kMostFaults) + " faults in a row";
    return {};
  }
  Proposal proposal =
      ask_safely(*options_.policy, options_.tuned_pipeline.description(), seen, decision.fault);
  if (decision.fault.empty()) {
    faults_ = 0;
  } else {
    ++faults_;
    decision.fault = decision.policy + " " + decision.fault;
  }
  return proposal;
}

}  // namespace forebay::tuner
