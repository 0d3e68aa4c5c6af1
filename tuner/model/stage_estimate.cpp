#include "tuner/model/stage_estimate.h"

#include <algorithm>
#include <cmath>

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

}  // namespace forebay::tuner
