#pragma once

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// A tuned pipeline whose actors leave at random times and whose trainer takes items at random
/// times.
class LatePipeline final : public TunedPipeline {
 public:
  LatePipeline(PipelineDescription description, Limits limits, Allocation start)
      : description_(std::move(description)), limits_(limits), wanted_(std::move(start)) {
    leaving_.assign(wanted_.actors.size(), 0);
  }

  const PipelineDescription& description() const override { return description_; }

  CurrentState current() const override {
    return {.limits = limits_,
            .actors = wanted_.actors,
            .leaving = leaving_,
            .prefetch = wanted_.prefetch,
            .prefetched = prefetched_,
            .memory_bytes = in_use(),
            .resident_bytes = in_use() + beyond};
  }

  Observation observe() override {
    Observation seen;
    seen.seconds = 1;
    seen.limits = limits_;
    seen.stages.resize(description_.stages.size());
    return seen;
  }

  void apply(const Allocation& next) override {
    for (std::size_t i = 0; i < leaving_.size(); ++i) {
      if (next.actors[i] < wanted_.actors[i]) leaving_[i] += wanted_.actors[i] - next.actors[i];
    }
    wanted_ = next;
    ++applied;
  }

  void leave(std::mt19937_64& random) {
    for (std::uint32_t& count : leaving_)
      count -= static_cast<std::uint32_t>(random() % (count + 1));
    prefetched_ -= static_cast<std::uint32_t>(random() % (prefetched_ + 1));
  }
  void all_leave() {
    std::ranges::fill(leaving_, 0);
    prefetched_ = 0;
  }
  void prefetch_all() { prefetched_ = std::max(prefetched_, wanted_.prefetch); }

  /// Includes leaving actors and waiting items; queues are full.
  std::uint64_t worst_case() const {
    std::uint64_t bytes = worst_case_without_leavers();
    for (std::size_t i = 0; i < leaving_.size(); ++i) {
      bytes += leaving_[i] * description_.stages[i].bytes_per_actor;
    }
    return bytes;
  }
  std::uint64_t worst_case_without_leavers() const {
    Allocation alive = wanted_;
    alive.prefetch = std::max(alive.prefetch, prefetched_);
    return worst_case_bytes(description_, alive) + beyond;
  }
  std::uint32_t alive(std::size_t stage) const { return wanted_.actors[stage] + leaving_[stage]; }
  const Allocation& wanted() const { return wanted_; }
  void set_limits(Limits limits) { limits_ = limits; }

  std::uint64_t beyond = 0;  ///< Memory that only the kernel sees.
  int applied = 0;

 private:
  std::uint64_t in_use() const { return description_.fixed_bytes; }

  PipelineDescription description_;
  Limits limits_;
  Allocation wanted_;
  std::vector<std::uint32_t> leaving_;
  std::uint32_t prefetched_ = 0;
};

}  // namespace forebay::tuner
