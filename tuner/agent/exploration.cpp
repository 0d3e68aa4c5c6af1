#include "tuner/agent/exploration.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "tuner/agent/exploration_moves.h"
#include "tuner/plan/plan.h"

namespace forebay::tuner {
namespace {

constexpr double kDeparture = 0.06;     // of the rate that the costs allow, that must be missing
constexpr double kBelow = 0.95;         // of the anchor's rate
constexpr double kFarBelow = 0.8;       // of it in single intervals, which chance moves more
constexpr double kMostCost = 0.05;      // of the rate, that a try may cost
constexpr double kBetter = 1.02;        // times the rate before, from which a try stays
constexpr double kSettledServices = 2;  // service times until a change has taken effect
// The lengths of tries and of rests are those of the usual pace (PipelineEstimate::pace).
constexpr double kBaseSeconds = 5;        // measured before a try
constexpr double kTrySeconds = 3.5;       // measured in a try
constexpr double kWideningSeconds = 5.5;  // where order or tails hold splits up, intervals differ
constexpr double kSteadyWork = 30;        // seconds after which a change of the work is one
constexpr double kLongestTry = 40;        // seconds in any case
constexpr double kAnchorSeconds = 3.5;    // measured before a rate counts as reached
constexpr double kAnchorMemory = 0.8;     // weight of the anchor's rate when it is measured again
constexpr double kStalledSeconds = 3;     // with no stage busy, until prefetch is tried
constexpr double kLongStalled = 7;        // until actors give way to it
constexpr double kLowSeconds = 7;         // below the anchor in any allocation, until it is tried
constexpr double kReleased = 0.9;  // of what an allocation brought, below which it is given up
constexpr double kStalled = 0.1;   // share of waiting of a trainer that something holds up
constexpr double kPaused = 0.02;   // of the time, from which it was a pause
constexpr double kAfterPause = 4;  // seconds in which the trainer takes the gathered splits
constexpr double kBridge = 1.2;    // times what is made in a pause
constexpr double kNearlyAsBusy = 0.9;
constexpr double kGrowth = 1.3;
constexpr double kBoldGrowth = 2;
constexpr double kFirstPause = 60;  // seconds after all moves failed
constexpr double kMostPause = 960;
constexpr double kLeastRest = 0.1;
constexpr double kRestPerLoss = 200;  // seconds for all of the rate

// The share by which chance moves the rate of so many splits.
double chance(double splits) { return 1 / std::sqrt(1 + splits); }

/// "17 % more", for 1.17 times the rate.
std::string describe_change(double times) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0f %% %s", 100 * std::abs(times - 1),
                times < 1 ? "less" : "more");
  return text;
}

}  // namespace

Exploration::Exploration(PipelineDescription description) : description_(std::move(description)) {}

Planned Exploration::next(const Observation& seen, const PipelineEstimate& known, Planned planned) {
  planned_ = planned;
  pace_ = known.pace();
  outcome_.clear();
  note_change(seen, known);
  bridge(seen);
  measure(seen, known);
  if (tried_ && over(seen)) conclude(seen);
  if (held_ && window_.seconds >= kTrySeconds && window_.rate() < kReleased * held_rate_) {
    held_.reset();
  }
  remember();
  watch_anchor(seen);
  departing_ = tried_ || stalled_ > 0 || departs(seen, known);
  if (!tried_ && rest_ <= 0 && !seen.is_fed()) consider(seen, known);
  if (tried_) {
    planned.allocation = tried_->allocation;
    return planned;
  }
  if (held_) planned.allocation = *held_;
  planned.allocation = with_prefetch(std::move(planned.allocation), seen);
  return planned;
}

// What is urgent first: a pipeline that stands still, a rate far below the anchor; else what the
// settled rate shows.
void Exploration::consider(const Observation& seen, const PipelineEstimate& known) {
  if (stalled_ >= pace_ * kStalledSeconds) {
    begin(Move::kMorePrefetch, seen, known, stalled_splits_ / stalled_);
  }
  if (!tried_ && stalled_ >= pace_ * kLongStalled) {
    begin(Move::kTrade, seen, known, stalled_splits_ / stalled_);
  }
  if (!tried_ && low_ >= kLowSeconds) begin(Move::kReturn, seen, known, low_splits_ / low_);
  if (tried_) {
    stalled_ = stalled_splits_ = low_ = low_splits_ = 0;
    return;
  }
  const bool settled = window_.seconds >= pace_ * kBaseSeconds;
  if (settled && (departing_ || below_anchor())) begin_next(seen, known);
}

// As many items as are wanted and fit beside the actors. Items that were measured to be worth it
// come before actors.
Allocation Exploration::with_prefetch(Allocation allocation, const Observation& seen) const {
  const Bounds bounds{.bytes = seen.limits.memory_bytes};
  const std::uint32_t wanted = std::max(allocation.prefetch, prefetch_);
  allocation.prefetch = prefetch_beside(description_, allocation, wanted, bounds);
  if (allocation.prefetch >= won_prefetch_) return allocation;
  const std::uint64_t kept = (won_prefetch_ - 1) * description_.prefetch_item_bytes;
  allocation.prefetch = 1;
  allocation = fitted(description_, allocation,
                      {description_.max_actors, bounds.bytes - std::min(bounds.bytes, kept)});
  allocation.prefetch = prefetch_beside(description_, allocation, won_prefetch_, bounds);
  return allocation;
}

// What departs from the model's world looks like other work again and again. Such a change lets
// what failed be tried anew; what is held is released by the first change after a while alone, and
// when it falls behind what it brought.
void Exploration::note_change(const Observation& seen, const PipelineEstimate& known) {
  const bool machine =
      limits_.cpus != seen.limits.cpus || limits_.memory_bytes != seen.limits.memory_bytes;
  limits_ = seen.limits;
  since_change_ += seen.seconds;
  if (!machine && !known.changed()) return;
  const bool other_work = machine || std::exchange(since_change_, 0) > kSteadyWork;
  if (other_work) {
    anchor_.reset();
    held_.reset();
    won_prefetch_ = 0;
    window_ = {};
    stalled_ = stalled_splits_ = low_ = low_splits_ = 0;
  }
  failed_.fill(false);
  pause_ = 0;
  if (machine || (other_work && tried_ && tried_->move != Move::kMorePrefetch)) tried_.reset();
}

void Exploration::measure(const Observation& seen, const PipelineEstimate& known) {
  rest_ -= seen.seconds;
  double service = 0;
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const StageCost cost = known.stages()[i].mean();
    service = std::max(service, cost.seconds_with(std::max(1U, seen.stages[i].actors)));
  }
  settling_ = std::min(kSettledServices * service, kLongestTry / 2);
  if (!alike(window_.allocation, seen.allocation())) {
    window_ = {.allocation = seen.allocation()};
  }
  // More prefetch takes effect at once; actors when they have begun and earlier splits have ended.
  const bool at_once = tried_ && tried_->move == Move::kMorePrefetch;
  if ((at_once || window_.waited >= settling_) && since_pause_ > kAfterPause) {
    window_.seconds += seen.seconds;
    window_.splits += seen.splits_per_second() * seen.seconds;
  }
  window_.waited += seen.seconds;
  const bool stalls = seen.trainer_wait_seconds > kStalled * seen.seconds &&
                      busiest(seen) < kHalfBusy && since_pause_ > kAfterPause && !tried_;
  if (!stalls || seen.trainer_steps == 0) {
    stalled_ = stalled_splits_ = 0;
    return;
  }
  stalled_ += seen.seconds;
  stalled_splits_ += seen.splits_per_second() * seen.seconds;
}

// While the trainer pauses the stages could go on, and while it takes again it waits for them: what
// they make in a pause has to find room. No period shows what that is worth, and it costs memory
// alone.
void Exploration::bridge(const Observation& seen) {
  const double passed = seen.at_seconds - std::exchange(at_seconds_, seen.at_seconds);
  const double paused = passed - seen.seconds;
  since_pause_ = paused > kPaused * passed ? 0 : since_pause_ + passed;
  if (since_pause_ == 0) {
    pause_length_ += paused;
  } else if (since_pause_ > kAfterPause) {
    pause_length_ = 0;
    if (!seen.is_fed()) waiting_rate_ = seen.splits_per_second();
  }
  const double items =
      kBridge * waiting_rate_ * pause_length_ / std::max(1e-9, seen.splits_per_item);
  const double most = std::max(1U, description_.max_prefetch);
  prefetch_ = std::max(prefetch_, static_cast<std::uint32_t>(std::min(items, most)));
}

void Exploration::remember() {
  if (tried_ || window_.seconds < kAnchorSeconds) return;
  const double rate = window_.rate();
  if (anchor_ && alike(anchor_->allocation, window_.allocation)) {
    anchor_->rate = kAnchorMemory * anchor_->rate + (1 - kAnchorMemory) * rate;
  } else if (!anchor_ || rate > anchor_->rate) {
    anchor_ = Anchor{.allocation = window_.allocation, .rate = rate};
  }
}

// A plan that changes every period is never settled; below the anchor it can be all the same.
void Exploration::watch_anchor(const Observation& seen) {
  const bool below = anchor_ && !tried_ && since_pause_ > kAfterPause && !seen.is_fed() &&
                     seen.splits_per_second() < kFarBelow * anchor_->rate;
  low_ = below ? low_ + seen.seconds : 0;
  low_splits_ = below ? low_splits_ + seen.splits_per_second() * seen.seconds : 0;
}

// The estimate's own shortfall starts anew with every change of the work, and what departs from the
// model looks like one again and again.
bool Exploration::departs(const Observation& seen, const PipelineEstimate& known) const {
  double expected = known.allowed_rate(seen.allocation().actors);
  if (held_) expected = std::max(expected, planned_.expected_splits_per_second);
  return window_.rate() < (1 - kDeparture - chance(window_.splits)) * expected;
}

bool Exploration::below_anchor() const {
  return anchor_ && window_.rate() < (kBelow - chance(window_.splits)) * anchor_->rate;
}

bool Exploration::over(const Observation& seen) const {
  if (!alike(window_.allocation, tried_->allocation)) return window_.waited > kLongestTry;
  if (seen.is_fed()) return true;
  // Prefetch takes nothing from any stage, so one slow interval is chance.
  const bool costly = tried_->move != Move::kMorePrefetch && tried_->move != Move::kTrade &&
                      window_.seconds > 0 && window_.rate() < (1 - kMostCost) * tried_->rate_before;
  const bool widens = tried_->move == Move::kMorePrefetch || tried_->move == Move::kTrade;
  const double enough = pace_ * (widens ? kWideningSeconds : kTrySeconds);
  return costly || window_.seconds >= enough || window_.waited > kLongestTry;
}

void Exploration::conclude(const Observation& seen) {
  const Try tried = *tried_;
  const double enough = kBetter + chance(window_.splits) / 2;
  const bool better = window_.seconds > 0 && window_.rate() > enough * tried.rate_before;
  const bool stands = alike(window_.allocation, tried.allocation);
  const double times = window_.rate() / std::max(tried.rate_before, 1e-9);
  const std::string noun = noun_of(tried.move);
  if (stands && (better || seen.is_fed())) {
    outcome_ = noun + " brought " + describe_change(times) + ": it stays";
    return keep(seen);
  }
  if (!stands || window_.seconds <= 0) {
    outcome_ = noun + " did not take effect in time: given up";
  } else {
    outcome_ = noun + " brought " + describe_change(times) + ": given up";
    if (times >= 1) outcome_ += ", since " + describe_change(enough) + " may be chance";
  }
  give_up(1 - times);
}

const char* Exploration::noun_of(Move move) {
  switch (move) {
    case Move::kReturn:
      return "the way back";
    case Move::kPlan:
      return "the plan";
    case Move::kHalfway:
      return "half the way to the plan";
    case Move::kMorePrefetch:
      return "more prefetch";
    case Move::kTrade:
      return "prefetch in place of idle actors";
    case Move::kGrowBusiest:
      return "more of the busiest stage";
    case Move::kGrowBusy:
      return "more of the busy stages";
    case Move::kShrinkIdle:
      return "fewer where they wait";
  }
  return "";
}

void Exploration::keep(const Observation& seen) {
  if (tried_->move == Move::kMorePrefetch) {
    prefetch_ = std::max(prefetch_, seen.prefetch);
    if (held_) held_ = tried_->allocation;
  } else {
    held_ = tried_->allocation;
    prefetch_ = held_->prefetch;
    if (tried_->move == Move::kPlan) held_.reset();
  }
  won_prefetch_ = tried_->allocation.prefetch;
  held_rate_ = window_.rate();
  tried_.reset();
  failed_.fill(false);
  pause_ = 0;
  anchor_.reset();  // what follows is reached from here
}

void Exploration::give_up(double loss) {
  const Move move = std::exchange(tried_, std::nullopt)->move;
  failed_[static_cast<std::size_t>(move)] = true;
  // What failed is left before anything else is tried.
  rest_ = pace_ * std::max(kLeastRest, kRestPerLoss * std::clamp(loss, 0.0, 1.0));
  if (move == Move::kReturn && anchor_) anchor_->rate = std::min(anchor_->rate, window_.rate());
}

void Exploration::begin_next(const Observation& seen, const PipelineEstimate& known) {
  for (std::size_t m = 0; m < kMoves && !tried_; ++m) {
    const auto move = static_cast<Move>(m);
    if (move != Move::kReturn || below_anchor()) begin(move, seen, known, window_.rate());
  }
  if (tried_) return;
  failed_.fill(false);
  pause_ = std::clamp(2 * pause_, kFirstPause, kMostPause);
  rest_ = pace_ * pause_;
}

// Nothing happens if the move failed before, or leads nowhere or to a loss.
void Exploration::begin(Move move, const Observation& seen, const PipelineEstimate& known,
                        double rate_now) {
  if (failed_[static_cast<std::size_t>(move)]) return;
  auto next = moved(move, seen);
  if (!next || *next == seen.allocation() || !bearable(move, *next, seen, known, rate_now)) return;
  tried_ = Try{.move = move, .allocation = std::move(*next), .rate_before = rate_now};
}

std::optional<Allocation> Exploration::moved(Move move, const Observation& seen) const {
  Allocation next = seen.allocation();
  const auto beside = [&](Allocation wanted) {
    wanted.prefetch = prefetch_beside(description_, wanted, std::max(wanted.prefetch, prefetch_),
                                      {.bytes = seen.limits.memory_bytes});
    return wanted;
  };
  switch (move) {
    case Move::kReturn:
      return beside(anchor_->allocation);
    case Move::kPlan:
    case Move::kHalfway:
      // Where every stage waits, more actors are not what is missing.
      if (!held_ || busiest(seen) < kAlwaysBusy) return std::nullopt;
      next = move == Move::kPlan
                 ? beside(planned_.allocation)
                 : halfway(description_, *held_, planned_.allocation, prefetch_, seen.limits);
      // Prefetch that was measured to be worth it is not given up for a promise.
      return next.prefetch < won_prefetch_ ? std::nullopt : std::optional(next);
    case Move::kMorePrefetch:
    case Move::kTrade:
      if (busiest(seen) > kAlwaysBusy) return std::nullopt;
      next = wider(description_, seen, move == Move::kTrade);
      // A trade is for where there is no memory left.
      if (move == Move::kTrade && next.prefetch <= wider(description_, seen, false).prefetch) {
        return std::nullopt;
      }
      return next.prefetch > seen.prefetch ? std::optional(next) : std::nullopt;
    case Move::kGrowBusiest:
      // What is held may be far from enough.
      if (held_) return grown(description_, seen, kNearlyAsBusy * busiest(seen), kBoldGrowth);
      return grown(description_, seen, busiest(seen) - 1e-9, kGrowth);
    case Move::kGrowBusy:
      return grown(description_, seen, std::min(kAlwaysBusy, kNearlyAsBusy * busiest(seen)),
                   kGrowth);
    case Move::kShrinkIdle:
      return without_idle(next, seen, 1);
  }
  return std::nullopt;
}

// The way back was measured; of anything else the costs have to say that it is not much slower.
bool Exploration::bearable(Move move, const Allocation& next, const Observation& seen,
                           const PipelineEstimate& known, double rate_now) const {
  if (!within(description_, next, {description_.max_actors, seen.limits.memory_bytes}))
    return false;
  if (move == Move::kReturn) return true;
  const double now = std::min(known.allowed_rate(seen.allocation().actors), rate_now);
  return known.allowed_rate(next.actors) >= (1 - kMostCost) * now;
}

std::string Exploration::words() const {
  if (!tried_) return {};
  switch (tried_->move) {
    case Move::kReturn:
      return "goes back to the best that was reached";
    case Move::kPlan:
      return "the plan promises more than is reached: tries it";
    case Move::kHalfway:
      return "the plan promises more than is reached: tries half the way";
    case Move::kMorePrefetch:
      return "less than the costs allow: tries more prefetch";
    case Move::kTrade:
      return "less than the costs allow: tries prefetch in place of idle actors";
    case Move::kGrowBusiest:
      return "less than the costs allow: tries more of the busiest stage";
    case Move::kGrowBusy:
      return "less than the costs allow: tries more of the busy stages";
    case Move::kShrinkIdle:
      return "less than the costs allow: tries fewer where they wait";
  }
  return {};
}

}  // namespace forebay::tuner
