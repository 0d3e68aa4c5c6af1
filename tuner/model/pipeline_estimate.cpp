#include "tuner/model/pipeline_estimate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/random.h"
#include "tuner/model/expected_rate.h"
#include "tuner/plan/plan.h"

namespace forebay::tuner {
namespace {

constexpr double kNoisePrior = 0.15;     // coefficient of variation before many splits were seen
constexpr double kNoisePriorWeight = 4;  // weight in splits
constexpr double kMostNoise = 10;
constexpr double kNoiseMemory = 400;       // splits
constexpr double kLeastCpuShare = 0.005;   // below these two, CPU time says nothing about
constexpr double kLeastCpuSeconds = 1e-6;  // the service time; seconds of a split
constexpr double kRateWait = 0.06;         // share of waiting that indicates a rate limit
constexpr double kDeepWait = 0.2;
constexpr double kRateExceeded = 0.03;  // a rate this far above a limit shows that it is gone
constexpr double kRateMissed = 0.9;     // less than this share of rate and actors: no limit
constexpr double kBlur = 0.3;
constexpr double kWave = 0.1;
constexpr double kSaturated = 0.9;  // share of busy time from which a limit binds

bool saturated(const StageObservation& stage) {
  return stage.working_seconds > kSaturated * (stage.working_seconds + stage.input_wait_seconds +
                                               stage.output_wait_seconds);
}

constexpr double kTrainerMemory = 0.5;   // weight of the last interval
constexpr double kTrainerChange = 0.15;  // relative; more means another trainer, not noise
constexpr double kRounding = 1e-6;  // of an interval: tolerance between two measures of its length
constexpr double kLeastCpus = 0.2;  // share that the stages always get
constexpr double kUnseenSeconds = 0.1;    // before any split was seen
constexpr double kShortfallMemory = 0.3;  // weight of the last interval
constexpr int kSettled = 2;               // intervals until the rate is that of the allocation
constexpr double kUnfinished = 1.3;       // of the time that a first split has taken so far

}  // namespace

void StageEstimate::observe(const StageObservation& stage, double seconds) {
  changed_ = false;
  if (stage.done == 0) {
    const double each = stage.working_seconds / std::max(1.0, stage.actor_seconds / seconds);
    unfinished_ += each;
    if (seen() && unfinished_ > 0) fit_.outlast(std::max(1U, stage.actors), unfinished_);
    return;
  }
  unfinished_ = 0;
  const auto done = static_cast<double>(stage.done);
  const double wall = (stage.done_seconds - stage.done_ready_seconds) / done;
  const double cpu = stage.done_cpu_seconds / done;
  if (wall <= 0) return;

  // A rate limit only adds waiting, so the largest share of CPU seen is the stage's own.
  const double share = std::min(1.0, cpu / wall);
  const double rate = done / seconds;
  const double passing =
      stage.working_seconds / seconds / wall;  // Little's law; ahead of `rate` while filling
  const double actors = std::max(1.0, stage.done_actors / done);
  measured_actors_ = actors;
  // If fewer actors wait even longer, the limit exists and is lower than estimated.
  const bool missed = max_rate_ > 0 && rate < max_rate_ * kRateMissed &&
                      actors < limited_actors_ * kRateMissed && saturated(stage) &&
                      wall < limited_seconds_ * (1 + kDeepWait);
  if (missed) max_rate_ = 0;
  cpu_share_ = missed ? share : std::max(share, cpu_share_);
  const bool computes = cpu_share_ > kLeastCpuShare && cpu > kLeastCpuSeconds;
  const double intrinsic = computes ? cpu / cpu_share_ : wall;
  observe_noise(stage, wall);
  // Splits that began with another number of actors than now blur the mean.
  const double blur = kBlur * std::log(std::max(1U, stage.actors) / actors);
  // Long splits that began together end together: one interval contains the short splits, another
  // the long ones.
  const double wave = kWave * intrinsic / seconds;
  const double variance = noise() * noise() / done + blur * blur + wave * wave;
  changed_ = fit_.observe(actors, intrinsic, variance);
  if (saturated(stage) && wall > intrinsic * (1 + kRateWait)) {
    // If few actors wait long, they may not reach the limit; the limit is then at least the earlier
    // value.
    const bool deep = wall > intrinsic * (1 + kDeepWait);
    const double shown = std::max(rate, passing);
    max_rate_ = deep || max_rate_ > shown * (1 + kDeepWait) ? shown : std::max(shown, max_rate_);
    limited_actors_ = actors;
    limited_seconds_ = wall;
  } else if (rate > max_rate_ * (1 + kRateExceeded)) {
    max_rate_ = 0;
  }
}

void StageEstimate::observe_noise(const StageObservation& stage, double mean) {
  const auto done = static_cast<double>(stage.done);
  if (done < 2) return;
  const double variance = stage.done_seconds_squared / done - mean * mean;
  const double squared =
      std::clamp(variance * done / (done - 1) / (mean * mean), 0.0, kMostNoise * kMostNoise);
  const double kept = std::min(1.0, kNoiseMemory / (noise_weight_ + done));
  noise_sum_ = (noise_sum_ + squared * done) * kept;
  noise_weight_ = (noise_weight_ + done) * kept;
}

double StageEstimate::noise() const {
  return std::sqrt((noise_sum_ + kNoisePrior * kNoisePrior * kNoisePriorWeight) /
                   (noise_weight_ + kNoisePriorWeight));
}

StageCost StageEstimate::completed(StageCost cost) const {
  cost.cpu = cpu_share_;
  cost.max_rate = max_rate_;
  return cost;
}

std::vector<double> StageEstimate::save() const {
  std::vector<double> saved = fit_.save();
  saved.push_back(cpu_share_);
  return saved;
}

bool StageEstimate::restore(const std::vector<double>& saved) {
  if (saved.empty() || !(saved.back() >= 0 && saved.back() <= 1)) return false;
  if (!fit_.restore({saved.begin(), saved.end() - 1})) return false;
  cpu_share_ = saved.back();
  return true;
}

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

std::vector<StageCost> PipelineEstimate::sample(std::uint64_t number) const {
  std::vector<StageCost> costs(stages_.size());
  for (std::size_t i = 0; i < costs.size(); ++i) {
    Random random(mix64(number, i));
    costs[i] = stages_[i].seen() ? stages_[i].sample(random.uniform()) : guess(i);
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
