#include "tuner/policy/autotune.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/allocation.h"
#include "tuner/policy/measured.h"

namespace forebay::tuner {
namespace {

constexpr std::uint32_t kLinearFrom = 2048;

// The least gain of a step, in seconds: -1 ns, so that a step without gain is taken.
constexpr double kLeastGain = -1e-9;

// The stage whose +1 shortens the output time most; null if each would lengthen it or is at its
// maximum.
MapStage* best_step(std::vector<MapStage>& stages, double now) {
  MapStage* best = nullptr;
  double best_gain = kLeastGain;
  for (MapStage& stage : stages) {
    if (stage.parallelism >= stage.most || stage.seconds <= 0) continue;
    ++stage.parallelism;
    const double gain = now - modelled_output_seconds(stages);
    --stage.parallelism;
    if (gain <= best_gain) continue;
    best_gain = gain;
    best = &stage;
  }
  return best;
}

class Autotune {
 public:
  explicit Autotune(const PolicyContext& context)
      : description_(context.description),
        cpus_(cpus_of(context.limits)),
        sums_(description_.stages.size()),
        prefetch_(description_.default_prefetch) {}

  Proposal operator()(const Observation& seen) {
    std::vector<MapStage> stages;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      sums_[i].add(work_of(seen, i));
      stages.push_back({.seconds = sums_[i].seen() ? sums_[i].wall() : 0, .most = most(i)});
    }
    climb(stages, cpus_);
    Allocation wanted = one_each(description_);
    for (std::size_t i = 0; i < stages.size(); ++i) wanted.actors[i] = stages[i].parallelism;
    prefetch_.set(prefetch_.wanted(seen));
    wanted.prefetch = std::max(1U, prefetch_.limit());
    return {.allocation = wanted, .reason = "hill climb on the latency model"};
  }

 private:
  std::uint32_t most(std::size_t stage) const {
    return std::clamp(description_.stages[stage].max_actors, 1U, static_cast<std::uint32_t>(cpus_));
  }

  PipelineDescription description_;
  double cpus_;
  std::vector<Work> sums_;
  PrefetchGrowth prefetch_;
};

constexpr double kWeight = 0.1;  // Of the newest split in a stage's time.

class AutotuneBudget {
 public:
  explicit AutotuneBudget(PipelineDescription description)
      : description_(std::move(description)),
        times_(description_.stages.size()),
        prefetch_(description_.default_prefetch) {}

  Proposal operator()(const Observation& seen) {
    note(seen);
    const Bounds bounds{.actors = description_.max_actors, .bytes = seen.limits.memory_bytes};
    Allocation plan = one_each(description_);
    plan.prefetch = 1;
    while (grow(plan, whole_cpus_of(seen.limits), bounds)) {
    }
    plan.prefetch = prefetch_.wanted(seen);
    plan = fitted(description_, shaped(description_, plan), bounds);
    prefetch_.set(plan.prefetch);
    return {.allocation = plan, .reason = "the slowest stage next, until the trainer is fed"};
  }

 private:
  void note(const Observation& seen) {
    for (std::size_t i = 0; i < times_.size(); ++i) {
      const Work work = work_of(seen, i);
      if (!work.seen()) continue;
      const double kept = times_[i] > 0 ? std::pow(1 - kWeight, work.splits) : 0;
      times_[i] = kept * times_[i] + (1 - kept) * work.wall();
    }
    if (const double rate = trainer_rate_of(seen); rate > 0) target_ = 1 / rate;
  }

  // Adds an actor to the slowest stage; returns false without a change if that is not needed or not
  // possible.
  bool grow(Allocation& plan, std::uint32_t cpus, const Bounds& bounds) const {
    std::size_t slowest = 0;
    for (std::size_t i = 1; i < times_.size(); ++i) {
      if (times_[i] / plan.actors[i] > times_[slowest] / plan.actors[slowest]) slowest = i;
    }
    std::uint32_t& actors = plan.actors[slowest];
    if (times_[slowest] / actors <= target_) return false;
    if (actors >= std::min(cpus, description_.stages[slowest].max_actors)) return false;
    if (!fits_one_more(description_, plan, slowest, bounds)) return false;
    ++actors;
    return true;
  }

  PipelineDescription description_;
  std::vector<double> times_;  // Seconds a split, by stage; 0: unknown.
  double target_ = 0;          // Seconds the trainer takes for a split; 0: unknown.
  PrefetchGrowth prefetch_;
};

}  // namespace

std::uint32_t PrefetchGrowth::wanted(const Observation& seen) {
  const bool grows = was_full_ && seen.prefetch_empty > 0;
  if (grows) was_full_ = false;
  if (seen.prefetch_full > 0) was_full_ = true;
  return grows ? limit_ + std::min(limit_, kLinearFrom) : limit_;
}

double buffer_wait_seconds(double producer, double consumer, double size) {
  if (producer <= 0) return 0;
  if (consumer <= 0) return producer;
  const double ratio = consumer / producer;
  if (std::abs(ratio - 1) < 1e-12) return producer / (size + 1);
  const double full = std::pow(ratio, size + 1);
  return std::isfinite(full) ? producer * (1 - ratio) / (1 - full) : 0;
}

double modelled_output_seconds(std::span<const MapStage> stages) {
  // A stage's consumer time is the time of all stages after it, the consumer included.
  double after = 0;
  for (const MapStage& stage : stages) after += stage.seconds / stage.parallelism;
  double output = 0;
  for (const MapStage& stage : stages) {
    const double own = stage.seconds / stage.parallelism;
    output = own + buffer_wait_seconds(output, after, stage.parallelism);
    after -= own;
  }
  return output;
}

void climb(std::vector<MapStage>& stages, double cpus) {
  double work = 0;  // Of an element.
  for (MapStage& stage : stages) {
    stage.parallelism = 1;
    work += stage.seconds;
  }
  for (double output = modelled_output_seconds(stages); output >= work / cpus;
       output = modelled_output_seconds(stages)) {
    MapStage* const step = best_step(stages, output);
    if (step == nullptr) return;
    ++step->parallelism;
  }
}

Decide make_autotune(const PolicyContext& context) { return Autotune(context); }

Decide make_autotune_budget(const PolicyContext& context) {
  return AutotuneBudget(context.description);
}

}  // namespace forebay::tuner
