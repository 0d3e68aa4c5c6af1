#include "tuner/model/stage_estimate.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace forebay::tuner {
namespace {

constexpr double kNoisePrior = 0.15;     // coefficient of variation before many splits were seen
constexpr double kNoisePriorWeight = 4;  // weight in splits
constexpr double kMostNoise = 10;
constexpr double kNoiseMemory = 400;       // splits
constexpr double kLeastCpuShare = 0.005;   // below these two, CPU time says nothing about
constexpr double kLeastCpuSeconds = 1e-6;  // the service time; seconds of a split
constexpr double kShareMemory = 0.3;       // weight of the last interval
constexpr double kLongWait = 2;  // times the seconds of work, from which a split waits long
constexpr double kIdle = 0.93;   // share of work up to which some actors are idle
constexpr double kUnexplainedIntervals = 2;  // that waiting lasts which no limit explains, and the
constexpr double kUnexplainedServices = 3;   // service times
constexpr double kUsual = 0.8;  // of the CPU share before, from which splits wait as little again
constexpr double kConvincing = 1;       // logarithm of how much likelier a doubt has to be
constexpr double kSlow = 0.5;           // of an interval: faster splits do not mislead,
constexpr double kSlowAtFirst = 1;      // nor when they are the first
constexpr double kCounted = 2;          // service times of all actors in which splits are counted
constexpr double kSteadyActors = 0.88;  // of the actors, that are about as many
constexpr double kMiscounted = 0.55;    // of the logarithm of their number: never chance
constexpr double kMiscountedSigmas = 3.5;
constexpr double kUneven = 0.25;  // variance of splits that began together
constexpr double kBlur = 0.3;
constexpr double kWave = 0.1;
constexpr double kNews = 4;         // intervals in a service time, up to which each is news
constexpr double kOutgrown = 1.7;   // times the expected seconds, from which work may have grown
constexpr double kNoChance = 1e-4;  // probability from which it has
constexpr double kSoFar = 1.2;      // times what splits have taken so far, that they take at least

}  // namespace

void StageEstimate::observe(const StageObservation& stage, double seconds) {
  changed_ = false;
  if (stage.done == 0) {
    observe_none(stage, seconds);
    return;
  }
  unfinished_ = 0;
  unfinished_actors_ = 0;
  const auto done = static_cast<double>(stage.done);
  const Served served{.seconds = seconds,
                      .done = done,
                      .wall = (stage.done_seconds - stage.done_ready_seconds) / done,
                      .cpu = stage.done_cpu_seconds / done,
                      .actors = std::max(1.0, stage.done_actors / done)};
  if (served.wall <= 0) return;

  measured_actors_ = served.actors;
  wall_ = served.wall;
  cpu_ = std::min(served.cpu, served.wall);
  const double intrinsic = intrinsic_seconds(stage, served);
  observe_noise(stage, served.wall);
  fit(stage, served, intrinsic);
  count(stage, seconds, limit_.value() > 0 || RateLimit::waited(served, intrinsic));
  limit_.learn(stage, served, intrinsic);
}

// The seconds that a split takes without a limit.
double StageEstimate::intrinsic_seconds(const StageObservation& stage, const Served& served) {
  const double share = cpu_ / wall_;
  const bool refuted = limit_.refuted_by(stage, served, seconds_by_cpu(served).value_or(0));
  limit_refuted_ = limit_refuted_ || refuted;
  if (usual_share_ == 0 && lacks_explanation(stage, served)) {
    usual_share_ = std::exchange(cpu_share_, share);
    limit_ = {};
  }
  if (usual_share_ > 0) {
    cpu_share_ += kShareMemory * (share - cpu_share_);
    if (cpu_share_ > kUsual * usual_share_) usual_share_ = 0;
    return served.wall;
  }
  // A rate limit only adds waiting, so the largest share of CPU seen is the stage's own.
  cpu_share_ = refuted ? share : std::max(share, cpu_share_);
  return seconds_by_cpu(served).value_or(served.wall);
}

// The seconds that a split takes without a limit, by its CPU time; nothing where that says nothing.
std::optional<double> StageEstimate::seconds_by_cpu(const Served& served) const {
  if (cpu_share_ <= kLeastCpuShare || served.cpu <= kLeastCpuSeconds) return std::nullopt;
  return served.cpu / cpu_share_;
}

// Adds an interval. Whether splits have waited long for some time though actors were idle: then
// they wait for their own answers, since a limit leaves no actor idle. What a single actor waits
// for may be either; to take it for answers costs a second actor, and to take it for a limit the
// rate.
bool StageEstimate::lacks_explanation(const StageObservation& stage, const Served& served) {
  const bool waited = served.wall * cpu_share_ > kLongWait * cpu_;
  const bool idle =
      stage.busy_share() < kIdle || (!RateLimit::is_shared(served) && !limit_.binds_several());
  unexplained_ = waited && idle && stage.actors > 0 ? unexplained_ + served.seconds : 0;
  return unexplained_ >= kUnexplainedIntervals * served.seconds &&
         unexplained_ >= kUnexplainedServices * served.wall;
}

void StageEstimate::observe_none(const StageObservation& stage, double seconds) {
  unfinished_ += stage.working_seconds / std::max(1.0, stage.actor_seconds / seconds);
  // The splits in work began among all these actors, even those that have been asked to leave.
  const double alive = std::max(1U, stage.actors + stage.leaving);
  unfinished_actors_ = std::max(unfinished_actors_, alive);
  if (seen() && unfinished_ > 0) outlast(alive);
  limit_.observe_none(seconds, unfinished_);
  count(stage, seconds, limit_.value() > 0);
}

void StageEstimate::outlast(double alive) {
  if (outgrown(alive)) {
    settling_.begin(0, 0);
    changed_ = true;
  }
  if (!settling_.lasts()) {
    fit_.outlast(unfinished_actors_, unfinished_);
    if (questioned_) questioned_->outlast(unfinished_actors_, unfinished_);
    return;
  }
  const double least = kSoFar * unfinished_;
  if (least > fit_.mean().seconds_with(unfinished_actors_)) {
    renew(unfinished_actors_, least, kUneven);
  }
}

// Whether it is no chance that none of so many actors has completed a split yet: then the work has
// grown, whatever the splits will take in the end.
bool StageEstimate::outgrown(double alive) const {
  const double times = unfinished_ / fit_.mean().seconds_with(unfinished_actors_);
  if (limit_.value() > 0 || times < kOutgrown) return false;
  const double longer = std::erfc(std::log(times) / noise() / std::sqrt(2.0)) / 2;
  return std::pow(longer, alive) < kNoChance;
}

void StageEstimate::fit(const StageObservation& stage, const Served& served, double intrinsic) {
  if (settling_.lasts()) {
    settling_.add(stage.working_seconds / served.seconds, served.done, intrinsic);
    const double variance = (noise() * noise() + kUneven) / settling_.splits();
    renew(served.actors, settling_.seconds(), variance);
    return;
  }
  // Splits that began with another number of actors than now blur the mean.
  const double blur = kBlur * std::log(std::max(1U, stage.actors) / served.actors);
  // Long splits that began together end together: one interval contains the short splits, another
  // the long ones. They differ no more than by their noise.
  const double wave = std::min(kWave * intrinsic / served.seconds, noise());
  // Where more is under way than was completed, the completed splits are the short ones.
  const double early =
      noise() * std::log(std::max(1.0, stage.working_seconds / stage.done_seconds));
  const double variance =
      noise() * noise() / served.done + blur * blur + wave * wave + early * early;
  const double news = std::min(1.0, kNews * served.seconds / intrinsic);
  const bool first = !seen();
  changed_ = fit_.observe(served.actors, intrinsic, variance, news);
  if (questioned_) questioned_->observe(served.actors, intrinsic, variance, news);
  const double slow = first ? kSlowAtFirst : kSlow;
  if ((first || changed_) && intrinsic > slow * served.seconds) {
    settling_.begin(served.done, intrinsic);
  }
}

void StageEstimate::renew(double actors, double seconds, double variance) {
  fit_.renew(actors, seconds, variance);
  if (questioned_) questioned_->renew(actors, seconds, variance);
}

// The splits completed so far are the short ones, and after a change those that began before it.
// What cannot mislead is how many were completed in how much work, once that is enough. Each counts
// with the actors among which it began, and while actors leave more end than begin.
void StageEstimate::count(const StageObservation& stage, double seconds, bool limited) {
  const double alive = std::max(1U, stage.actors + stage.leaving);
  const bool other = alive > count_.actors || alive < kSteadyActors * count_.actors;
  if (limited || changed_ || !seen() || other) count_ = {.actors = alive};
  if (limited || !seen()) return;
  const double ready = stage.done_seconds > 0 ? stage.done_ready_seconds / stage.done_seconds : 0;
  const auto done = static_cast<double>(stage.done);
  const StageCost cost = fit_.mean();
  const double service = cost.seconds_with(alive);
  count_.work += stage.working_seconds * (1 - ready);
  if (done > 0) count_.believed += done * cost.seconds_with(measured_actors_);
  if (service < kSlow * seconds) count_ = {.actors = alive};
  if (count_.work <= kCounted * service * alive) return;
  const double believed = std::max(count_.believed, service / 2);
  const double variance = (noise() * noise() + kUneven) * service / std::min(count_.work, believed);
  const double off = count_.work / believed;
  if (std::abs(std::log(off)) > std::max(kMiscounted, kMiscountedSigmas * std::sqrt(variance))) {
    const double actors = done > 0 ? measured_actors_ : alive;
    const double shown = cost.seconds_with(actors) * off;
    renew(actors, shown, variance);
    changed_ = true;
  }
  count_ = {.actors = alive};
}

void StageEstimate::question(double actors) {
  questioned_ = fit_;
  questioned_->weigh();
  fit_.question(actors);
  limit_refuted_ = false;
}

bool StageEstimate::conclude() {
  const bool refuted = questioned_ && fit_.evidence() > questioned_->evidence() + kConvincing;
  if (questioned_ && !refuted) fit_ = *questioned_;
  questioned_.reset();
  return refuted || limit_refuted_;
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
  cost.max_rate = limit_.value();
  return cost;
}

std::vector<double> StageEstimate::save() const {
  std::vector<double> saved = (questioned_ ? *questioned_ : fit_).save();
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
