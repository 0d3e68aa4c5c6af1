#include "tuner/model/rate_limit.h"

#include <algorithm>
#include <cmath>

namespace forebay::tuner {
namespace {

constexpr double kRateWait = 0.06;  // share of waiting that indicates a rate limit
constexpr double kDeepWait = 0.2;
constexpr double kSustained = 3;  // service times for which a rate bounds the limit from below
constexpr double kRaised = 1.12;  // times the rate seen, to which a limit is raised
constexpr double kRateExceeded = 0.03;  // a rate this far above a limit shows that it is gone
constexpr double kRateMissed = 0.9;     // less than this share of rate and actors: no limit
constexpr double kSaturated = 0.9;      // share of busy time from which a limit binds
constexpr double kSteady = 0.15;        // of the logarithm of the actors, that are about as many
constexpr double kAlone = 1.5;          // actors up to which there is one

bool saturated(const StageObservation& stage) {
  return stage.working_seconds > kSaturated * (stage.working_seconds + stage.input_wait_seconds +
                                               stage.output_wait_seconds);
}

}  // namespace

bool RateLimit::is_shared(const Served& served) { return served.actors > kAlone; }

bool RateLimit::binds_several() const { return shared_ > 0 && rate_ > kRateMissed * shared_; }

bool RateLimit::waited(const Served& served, double intrinsic) {
  return served.wall > intrinsic * (1 + kRateWait);
}

void RateLimit::observe_none(double seconds, double unfinished) {
  rate_ -= rate_ * std::min(1.0, seconds / std::max(seconds, unfinished));
}

bool RateLimit::refuted_by(const StageObservation& stage, const Served& served, double intrinsic) {
  rate_ += (served.done / served.seconds - rate_) * std::min(1.0, served.seconds / served.wall);
  sustained_ = std::max(rate_, sustained_ * std::exp(-served.seconds / (kSustained * served.wall)));
  // If fewer actors wait even longer, the limit exists and is lower than estimated; if they hardly
  // wait, they do not reach it; if more actors wait less, it exists and has been raised.
  const bool fewer = rate_ < limit_ * kRateMissed && served.actors < actors_ * kRateMissed &&
                     served.wall < seconds_ * (1 + kDeepWait) &&
                     served.wall > intrinsic * (1 + kDeepWait);
  const bool more = rate_ > limit_ / kRateMissed && served.actors > actors_ / kRateMissed &&
                    served.wall > seconds_ * (1 - kDeepWait);
  const bool missed = limit_ > 0 && saturated(stage) && (fewer || more);
  missed_ = missed ? missed_ + served.seconds : 0;
  if (!missed || missed_ < served.wall) return false;
  limit_ = shared_ = 0;
  return true;
}

void RateLimit::learn(const StageObservation& stage, const Served& served, double intrinsic) {
  if (saturated(stage) && waited(served, intrinsic)) {
    // Little's law; ahead of the rate while filling.
    const double passing = stage.working_seconds / served.seconds / served.wall;
    const double shown = std::max(sustained_, passing);
    // If few actors wait long, they may not reach the limit; the limit is then at least the earlier
    // value.
    const bool deep = served.wall > intrinsic * (1 + kDeepWait);
    const double alive = std::max(1U, stage.actors + stage.leaving);
    const bool steady = std::abs(std::log(served.actors / alive)) < kSteady;
    const bool lowers = steady && (deep || limit_ > shown * (1 + kDeepWait));
    limit_ = limit_ == 0 || lowers ? shown : std::max(shown, limit_);
    if (is_shared(served)) shared_ = limit_;
    actors_ = served.actors;
    seconds_ = served.wall;
  } else if (rate_ > limit_ * (1 + kRateExceeded)) {
    // What long splits wait for shows late: their limit is raised step by step.
    const bool late = limit_ > 0 && served.wall > served.seconds;
    limit_ = late ? rate_ * kRaised : 0;
    if (!late) shared_ = 0;
  }
}

}  // namespace forebay::tuner
