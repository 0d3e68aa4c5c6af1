#include "tuner/model/pipeline_estimate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/random.h"
#include "tuner/model/expected_rate.h"
#include "tuner/plan/plan.h"

namespace forebay::tuner {
namespace {

constexpr double kTrainerMemory = 0.5;   // weight of the last interval
constexpr double kTrainerChange = 0.15;  // relative; more means another trainer, not noise
constexpr double kRounding = 1e-6;  // of an interval: tolerance between two measures of its length
constexpr double kLeastCpus = 0.2;  // share that the stages always get
constexpr double kUnseenSeconds = 0.1;    // before any split was seen
constexpr double kShortfallMemory = 0.3;  // weight of the last interval
constexpr double kUsualPeriod = 2;        // seconds
constexpr double kNearlyUsual = 0.95;     // of it
constexpr int kSettled = 2;               // intervals until the rate is that of the allocation
constexpr double kUnfinished = 1.3;       // of the time that a first split has taken so far

}  // namespace

PipelineEstimate::PipelineEstimate(const PipelineDescription& description)
    : stages_(description.stages.size()) {}

void PipelineEstimate::observe(const Observation& seen) {
  changed_ = limits_.cpus > 0 &&
             (limits_.cpus != seen.limits.cpus || limits_.memory_bytes != seen.limits.memory_bytes);
  limits_ = seen.limits;
  const double lasted = seconds_since_last(seen);
  if (seen.seconds > 0) others_ = seen.other_cpu_seconds / lasted;
  cpus_ = std::max(seen.limits.cpus * kLeastCpus, seen.limits.cpus - others_);
  if (seen.seconds <= 0) return;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    stages_[i].observe(seen.stages[i], lasted);
    changed_ = changed_ || stages_[i].changed();
  }
  observe_trainer(seen);
  observe_loss(seen);
}

// Stages and other work go on while the trainer pauses, so their sums cover all the time that
// passed, as far as actors were alive in it (the time before the first observation does not count).
double PipelineEstimate::seconds_since_last(const Observation& seen) {
  const double passed = seen.at_seconds - std::exchange(at_seconds_, seen.at_seconds);
  if (passed > 0) pace_ = passed > kNearlyUsual * kUsualPeriod ? 1 : passed / kUsualPeriod;
  if (passed <= seen.seconds * (1 + kRounding)) return seen.seconds;
  double lived = 0;
  for (const StageObservation& stage : seen.stages) {
    lived = std::max(lived, stage.actor_seconds / std::max(1U, stage.actors));
  }
  return std::clamp(lived, seen.seconds, passed);
}

void PipelineEstimate::observe_trainer(const Observation& seen) {
  if (seen.trainer_steps == 0 || seen.trainer_step_seconds <= 0) return;
  const double rate =
      static_cast<double>(seen.trainer_steps) * seen.splits_per_item / seen.trainer_step_seconds;
  const bool other = std::abs(rate - trainer_rate_) > kTrainerChange * rate;
  changed_ = changed_ || (other && trainer_rate_ > 0);
  trainer_rate_ = other ? rate : trainer_rate_ + kTrainerMemory * (rate - trainer_rate_);
}

// Learns from intervals whose allocation did not change and whose pipeline was full from their
// start.
void PipelineEstimate::observe_loss(const Observation& seen) {
  std::vector<std::uint32_t> actors;
  bool known = true;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    actors.push_back(std::max(1U, seen.stages[i].actors));
    known = known && stages_[i].seen() && seen.stages[i].leaving == 0;
  }
  unchanged_intervals_ = actors == stood_ && !changed_ ? unchanged_intervals_ + 1 : 0;
  if (changed_) shortfall_ = 0;
  stood_ = std::move(actors);
  if (!known || unchanged_intervals_ < kSettled) return;
  std::vector<double> noise;
  for (const StageEstimate& stage : stages_) noise.push_back(stage.noise());
  const std::vector<StageCost> costs = mean();
  const double steady = steady_rate(costs, stood_, cpus_, trainer_rate_);
  const double expected =
      expected_rate(costs, noise, stood_, {.cpus = cpus_, .trainer_rate = trainer_rate_});
  const double missing = 1 - seen.splits_per_second() / steady;
  shortfall_ += kShortfallMemory * (missing - shortfall_);
  loss_scale_.observe(1 - expected / steady, 1 - seen.splits_per_second() / steady);
}

// The cost of a stage before its first completed split: the mean of the stages seen, or the stage's
// own time so far if it is longer.
StageCost PipelineEstimate::guess(std::size_t stage) const {
  double seconds = 0;
  double seen = 0;
  for (const StageEstimate& other : stages_) {
    if (!other.seen()) continue;
    seconds += other.mean().seconds;
    ++seen;
  }
  const double usual = seen > 0 ? seconds / seen : kUnseenSeconds;
  return {.seconds = std::max(usual, kUnfinished * stages_[stage].unfinished_seconds())};
}

std::vector<StageCost> PipelineEstimate::mean() const {
  std::vector<StageCost> costs(stages_.size());
  for (std::size_t i = 0; i < costs.size(); ++i) {
    costs[i] = stages_[i].seen() ? stages_[i].mean() : guess(i);
  }
  return costs;
}

double PipelineEstimate::allowed_rate(std::span<const std::uint32_t> actors) const {
  return steady_rate(mean(), actors, cpus_, trainer_rate_);
}

std::vector<StageCost> PipelineEstimate::sample(std::uint64_t number) const {
  std::vector<StageCost> costs(stages_.size());
  for (std::size_t i = 0; i < costs.size(); ++i) {
    Random random(mix64(number, i));
    costs[i] = stages_[i].sample(random.uniform());
    if (!stages_[i].seen()) costs[i].seconds = guess(i).seconds;
  }
  return costs;
}

std::vector<std::vector<double>> PipelineEstimate::save() const {
  std::vector<std::vector<double>> saved;
  for (const StageEstimate& stage : stages_) {
    saved.push_back(stage.seen() ? stage.save() : std::vector<double>{});
  }
  return saved;
}

bool PipelineEstimate::restore(const std::vector<std::vector<double>>& saved) {
  if (saved.size() != stages_.size()) return false;
  std::vector<StageEstimate> restored(stages_.size());
  for (std::size_t i = 0; i < saved.size(); ++i) {
    if (!saved[i].empty() && !restored[i].restore(saved[i])) return false;
  }
  stages_ = std::move(restored);
  return true;
}

}  // namespace forebay::tuner
