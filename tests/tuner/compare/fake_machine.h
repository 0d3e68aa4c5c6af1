#pragma once

#include <algorithm>
#include <numeric>

#include "tuner/sim/simulator.h"

namespace forebay::tuner {

/// Two stages; an actor of the slower one trains a split a second. Every actor takes 10 bytes, and
/// the run is out of memory as soon as they take more than 100.
class FakeMachine final : public ModelledPipeline {
 public:
  FakeMachine() {
    description_.stages = {{"load", 128, 10}, {"udf", 128, 10}};
    description_.max_prefetch = 4;
  }

  void run_until(double seconds) override {
    ++runs;
    if (!totals_.out_of_memory) {
      trained_ += (seconds - totals_.seconds) * std::min(actors_[0], actors_[1]);
      totals_.cpu_seconds += (seconds - totals_.seconds) * in_all();
      totals_.trained = static_cast<std::uint64_t>(trained_ + 1e-6);
    }
    totals_.seconds = seconds + (runs == late_in_run ? late_seconds : 0);
  }
  SimTotals totals() const override { return totals_; }

  const PipelineDescription& description() const override { return description_; }
  CurrentState current() const override {
    CurrentState current;
    const bool lowered = totals_.seconds >= lowered_at;
    current.limits = {.cpus = 8, .memory_bytes = lowered ? 40U : 100U};
    current.actors = actors_;
    current.leaving = {0, 0};
    current.memory_bytes = memory();
    return current;
  }
  Observation observe() override {
    Observation seen;
    seen.at_seconds = totals_.seconds;
    seen.seconds = 2;
    seen.limits = current().limits;
    seen.stages.resize(2);
    for (std::size_t i = 0; i < 2; ++i) seen.stages[i].actors = actors_[i];
    seen.memory_bytes = memory();
    seen.memory_peak = memory();
    return seen;
  }
  void apply(const Allocation& allocation) override {
    actors_ = allocation.actors;
    applied_at = totals_.seconds;
    totals_.out_of_memory = totals_.out_of_memory || memory() > 100;
  }

  int runs = 0;
  int late_in_run = 0;  ///< The call of run_until that returns late, by late_seconds.
  double late_seconds = 0;
  double lowered_at = 1e9;  ///< From then on only 40 bytes are granted.
  double applied_at = 0;    ///< The time of the last apply().

 private:
  std::uint32_t in_all() const { return actors_[0] + actors_[1]; }
  std::uint64_t memory() const { return 10 * in_all(); }

  PipelineDescription description_;
  std::vector<std::uint32_t> actors_ = {1, 1};
  SimTotals totals_;
  double trained_ = 0;
};

/// Makes the same proposal again and again.
class FixedProposal final : public Policy {
 public:
  explicit FixedProposal(Allocation allocation) : allocation_(std::move(allocation)) {}

  std::string_view name() const override { return "fixed"; }
  Proposal decide(const Observation&) override { return {allocation_, 0, "as ever"}; }

 private:
  Allocation allocation_;
};

}  // namespace forebay::tuner
