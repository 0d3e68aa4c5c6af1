#include "scheduler/autoscaler.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/base/text/counted.h"

namespace forebay::scheduler {
namespace {

constexpr double kBusy = 0.6;          // a mean share above which more workers can help
constexpr int kStarvesTwice = 2;       // intervals before a growth that the capacities explain,
constexpr double kStarvesHalf = 0.2;   // unless the trainer waits for more than this share
constexpr int kStarvesLong = 6;        // and before one that they do not explain,
constexpr double kStarvesMuch = 0.05;  // of a trainer that waits for more than this share
constexpr int kIdleLong = 3;           // intervals of idle workers and a waiting trainer
constexpr double kLeap = 2;            // at most so many times the workers in one step,
constexpr double kSmallLeap = 4;       // or, while they are few, so many times
constexpr double kFew = 12;            // up to so many
constexpr double kTest = 1.2;          // times the workers, to test a limit again
constexpr double kJudged = 0.15;       // a growth by less is lost in the noise
constexpr double kClearlyLess = 0.8;   // of a rate, whatever the noise
constexpr double kGuess = 0.7;         // of the workers: a guess above that says little
constexpr double kUseful = 0.6;        // less is a shared limit
constexpr int kMeasured = 2;           // intervals before a growth is judged
constexpr double kSettling = 3;        // intervals until a worker must know its capacity
constexpr int kFedLong = 2;            // intervals until a trainer that starved counts as fed
constexpr int kFewerAtFirst = 2;       // intervals; before any number was found right
constexpr int kFewerLater = 3;
constexpr double kDrains = 0.95;      // of the demand: less arrives than is taken,
constexpr int kDrainsLong = 4;        // for so many intervals
constexpr int kRight = 4;             // intervals until a number counts as right
constexpr double kNotWorthIt = 0.04;  // of the workers: fewer by less than that is no saving
constexpr double kDown = 1.04;        // further headroom for fewer workers
constexpr double kOtherDemand = 0.15;
constexpr double kSameDemand = 0.9;
constexpr double kCapped = 30;        // seconds after which the launcher is taken to give no more
constexpr double kCappedIn = 10;      // the same in intervals
constexpr double kHealed = 1.15;      // of the ceiling's rate,
constexpr int kHealedLong = 8;        // in the mean of so many intervals
constexpr int kRemembered = 16;       // of the last intervals whose mean counts
constexpr double kBalanced = 0.25;    // of the splits that were made: so few wait to be taken,
constexpr double kForgets = 0.9;      // of splits that wait, an interval later: some always do,
constexpr int kLongestWindow = 8;     // or after so many intervals, whatever was taken
constexpr double kLocalFades = 0.98;  // per interval

/// Prints enough digits to check the sum by hand.
std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

std::string count(std::uint32_t workers) { return format_counted(workers, "worker"); }

}  // namespace

Autoscaler::Autoscaler(const Options& options) : options_(options), retry_(options.retry_seconds) {}

std::uint32_t Autoscaler::bounded(double wanted) const {
  return static_cast<std::uint32_t>(
      std::clamp(wanted, static_cast<double>(options_.least), static_cast<double>(options_.most)));
}

double Autoscaler::workers_for(double rate, const View& view) const {
  return std::max(0.0, rate * (1 + options_.margin) - view.local) / view.worker;
}

std::string Autoscaler::sum(const View& view) const {
  return "the trainer takes " + number(meter_.demand()) + " splits/s when it never waits (+ " +
         number(options_.margin * 100) + " %), its own node makes " + number(view.local) +
         ", a worker could make " + number(view.worker);
}

ScaleDecision Autoscaler::keep(std::string why) const { return {*asked_, std::move(why), false}; }

ScaleDecision Autoscaler::change(std::uint32_t wanted, std::string why) {
  if (wanted == *asked_) return keep(std::move(why));
  asked_ = wanted;
  seconds_ = 0;
  missing_.begin();
  settled_ = 0;
  measured_ = 0;
  rate_ = 0;
  starving_ = 0;
  idle_ = 0;
  draining_ = 0;
  arrived_.reset();
  fewer_ = 0;
  fewer_for_ = 0;
  most_of_those_ = 0;
  enough_ = 0;
  anchor_.reset();
  return {wanted, std::move(why), false};
}

std::optional<ScaleDecision> Autoscaler::begin(const ScaleInput& input) {
  if (asked_) return std::nullopt;
  const auto here = static_cast<std::uint32_t>(input.workers.size()) + input.joining;
  asked_ = bounded(here);
  if (options_.start <= *asked_) return std::nullopt;
  return change(bounded(options_.start),
                "the last run of this work needed " + count(options_.start));
}

// What the node makes while the trainer waits is what it can make; at other times it is at least
// what it makes.
Autoscaler::View Autoscaler::view_of(const ScaleInput& input) {
  View view{.here = static_cast<std::uint32_t>(input.workers.size())};
  const bool at_work = input.waited > options_.starved * input.seconds;
  local_ = at_work ? local_ + (input.local_rate - local_) / 2
                   : std::max(input.local_rate, local_ * kLocalFades);
  view.local = local_;
  double could = 0;
  double known = 0;
  for (const WorkerSeen& worker : input.workers) {
    view.busy += worker.busy / view.here;
    view.all_known = view.all_known && worker.could_make > 0;
    if (worker.could_make <= 0) continue;
    could += std::max(worker.could_make, worker.rate);
    ++known;
  }
  if (known > 0) view.worker = could / known;
  if (view.worker > best_worker_) {
    best_worker_ = view.worker;
    best_worker_of_ = view.here;
  }
  return view;
}

// Waits for the workers that were asked for, and for their first whole interval. A launcher that
// gives no more is taken as it is; one whose worker died is asked to replace it.
std::optional<ScaleDecision> Autoscaler::await_workers(const ScaleInput& input) {
  seconds_ += input.seconds;
  const auto here = static_cast<std::uint32_t>(input.workers.size());
  const bool again = missing_.again(*asked_, here, input.seconds);
  if (here >= *asked_) {
    ++settled_;
    return std::nullopt;
  }
  if (again) {
    return ScaleDecision{*asked_, std::to_string(here) + " of " + count(*asked_) + " are here",
                         true};
  }
  if (missing_.seconds() < std::max(kCapped, kCappedIn * input.seconds) || input.joining > 0) {
    settled_ = 0;
    return keep("waits for " + count(*asked_) + ", " + std::to_string(here) + " are here");
  }
  ++settled_;
  return std::nullopt;
}

// In order, splits reach the trainer in bursts: as many as were made in an interval only over some.
bool Autoscaler::measure(const ScaleInput& input) {
  ScaleInput& sum = window_;
  sum.seconds += input.seconds;
  sum.taken += input.taken;
  sum.waited += input.waited;
  sum.arrived += input.arrived;
  double rate = input.local_rate;
  for (const WorkerSeen& worker : input.workers) rate += worker.rate;
  window_made_ += rate * input.seconds;
  // Splits that are made while the trainer does not wait fill the prefetch.
  const double held_back = rate * input.seconds - input.taken;
  const bool waits = input.waited > options_.starved * input.seconds;
  waiting_ = std::max(0.0, kForgets * waiting_ + (waits ? held_back : std::min(held_back, 0.0)));
  const bool balanced =
      meter_.starved() <= options_.starved || waiting_ <= kBalanced * window_made_;
  if (!balanced && ++window_intervals_ < kLongestWindow) return false;
  seen_ = std::exchange(window_, {});
  made_rate_ = std::exchange(window_made_, 0) / std::max(seen_.seconds, 1e-3);
  window_intervals_ = 0;
  return meter_.add(seen_);
}

ScaleDecision Autoscaler::decide(const ScaleInput& input) {
  if (auto first = begin(input)) return *first;
  if (ceiling_) ceiling_seconds_ += input.seconds;
  const View view = view_of(input);
  const bool fresh = measure(input);
  if (input.workers.empty() && input.joining == 0 && *asked_ == 0) {
    // The rate of a worker is unknown without one: start one worker if the trainer waits.
    if (meter_.starved() <= options_.starved) return keep("its own node feeds the trainer");
    return change(bounded(1), "the trainer waits " + number(meter_.starved() * 100) +
                                  " % of its time; one worker, to see what it makes");
  }
  if (auto waits = await_workers(input)) return *waits;
  if (!fresh) return keep("too few splits were taken to tell");
  const bool settled = settled_ > 1 && (view.all_known || settled_ > kSettling);
  if (!settled || view.worker <= 0) return keep("what a worker makes is not known yet");
  if (meter_.starved() > kStarvesHalf) fed_for_ = 0;
  if (meter_.starved() > options_.starved) return starving(input, view);
  if (fed_for_ < kFedLong) {
    enough_ = ++fed_for_;
    return keep("the trainer was fed for too short a time to tell");
  }
  return fed(input, view);
}

ScaleDecision Autoscaler::starving(const ScaleInput& input, const View& view) {
  fewer_ = 0;
  fewer_for_ = 0;
  most_of_those_ = 0;
  ++measured_;
  rate_ += (made_rate_ - rate_) / std::min(measured_, kRemembered);
  if (search_) return go_on_searching(view);
  if (at_ceiling()) return hold_at_ceiling();
  if (auto found = judge_growth(input, view)) return *found;
  if (view.busy < kBusy) return idle(view);
  idle_ = 0;
  enough_ = 0;
  ++starving_;
  if (gain_ && measured_ < kMeasured) return keep("measures what " + count(*asked_) + " bring");
  if (view.here < *asked_) return keep("the launcher starts no more");
  const double wanted = workers_for(meter_.demand(), view) - options_.worth;
  const std::uint32_t now = std::max(*asked_, view.here);
  const bool sure = starving_ >= kStarvesTwice || meter_.starved() > kStarvesHalf;
  if (wanted > now && sure) return grow(input, view, std::ceil(wanted));
  const bool much = meter_.starved() > kStarvesMuch && starving_ >= kStarvesLong;
  if (much) return grow(input, view, now + 1.0);
  return keep(sum(view) + ": " + count(now) + " should do");
}

// A ceiling is a number beyond which workers bring nothing. It holds until more comes over it, or
// for a long time.
bool Autoscaler::at_ceiling() {
  if (!ceiling_ || *asked_ < ceiling_->workers) return false;
  if (measured_ >= kHealedLong && rate_ > kHealed * ceiling_->rate) ceiling_.reset();
  return ceiling_ && ceiling_seconds_ < retry_;
}

ScaleDecision Autoscaler::hold_at_ceiling() {
  if (++enough_ == kRight) needed_ = *asked_;
  return keep("more than " + count(*asked_) +
              " bring no more: a link, a store or a disk is at its limit");
}

ScaleDecision Autoscaler::grow(const ScaleInput& input, const View& view, double wanted) {
  const std::uint32_t now = std::max(*asked_, view.here);
  double most = std::max(kLeap * now, std::min(kSmallLeap * now, kFew));
  if (ceiling_) {  // A limit was found: it is tested again with few, or not passed.
    const bool again = *asked_ >= ceiling_->workers;
    most = again ? std::ceil(now * kTest) : std::min<double>(most, ceiling_->workers);
  }
  const std::uint32_t next = bounded(std::min(wanted, most));
  if (next <= now) return keep(sum(view) + ": " + count(now) + " are the most");
  floor_ = {.workers = now + 1, .demand = meter_.demand(), .worker = view.worker};
  if (!gain_) gain_.emplace(input.workers, rate_);
  return change(next, sum(view) + ": " + count(next));
}

// Compares the rate of the workers from before the growth with their rate now.
std::optional<ScaleDecision> Autoscaler::judge_growth(const ScaleInput& input, const View& view) {
  if (!gain_ || view.busy < kBusy || measured_ < kMeasured) return std::nullopt;
  const MarginalGain::Result result = gain_->measure(input.workers);
  if (result.added < kJudged) return std::nullopt;
  const MarginalGain before = *std::exchange(gain_, std::nullopt);
  if (result.useful >= kUseful) return std::nullopt;
  const double share = before.taken() / rate_;
  const bool enough = share >= FewestSearch::kEnough && before.workers() > 0;
  search_.emplace(enough ? before.workers() : view.here,
                  share < kClearlyLess ? before.workers() : 0, rate_);
  return try_fewer(view);
}

// The workers have little to do while the trainer waits: the limit lies between them and the
// trainer. As many as make what arrives are enough.
ScaleDecision Autoscaler::idle(const View& view) {
  starving_ = 0;
  if (++idle_ < kIdleLong) return keep("the trainer waits, but the workers have little to do");
  gain_.reset();
  const double enough = std::ceil(workers_for(rate_, view) - options_.worth);
  const double few = std::clamp(enough - 1, 0.0, view.here - 1.0);
  search_.emplace(view.here, static_cast<std::uint32_t>(few), rate_);
  return try_fewer(view);
}

ScaleDecision Autoscaler::try_fewer(const View& view) {
  const double share = FewestSearch::kEnough * search_->rate() - view.local;
  const double least = std::max(0.0, std::ceil(share / best_worker_));
  const bool guess = least < kGuess * search_->fewest();
  // With more workers than at its best, a worker makes no more than at its best.
  if (least > best_worker_of_) search_->rule_out(static_cast<std::uint32_t>(least) - 1);
  const std::string what =
      "more workers bring no more than " + number(search_->rate()) + " splits/s: ";
  if (!search_->done()) {
    const std::uint32_t next =
        bounded(search_->next(guess ? static_cast<std::uint32_t>(least) : 0));
    if (next < search_->fewest()) return change(next, what + "tries " + count(next));
  }
  if (ceiling_) retry_ *= 2;
  ceiling_ = {.workers = search_->fewest(), .rate = search_->rate()};
  ceiling_seconds_ = 0;
  search_.reset();
  return change(bounded(ceiling_->workers), what + count(ceiling_->workers) + " do");
}

ScaleDecision Autoscaler::go_on_searching(const View& view) {
  if (!search_->add(made_rate_)) return keep("measures what " + count(*asked_) + " bring");
  return try_fewer(view);
}

// The number that starved this trainer with these workers is not tried again.
std::uint32_t Autoscaler::floor_for(const View& view) const {
  const bool holds = meter_.demand() > kSameDemand * floor_.demand &&
                     view.worker < (1 + kOtherDemand) * floor_.worker;
  return holds ? floor_.workers : 0;
}

// Batches that wait hide for a while that busy workers make less than the trainer takes.
bool Autoscaler::drains(const View& view) {
  constexpr double kNew = 0.4;
  const double arrived = seen_.arrived / std::max(seen_.seconds, 1e-3);
  const bool begins = !arrived_ || settled_ <= 2;
  arrived_ = begins ? arrived : *arrived_ + kNew * (arrived - *arrived_);
  const bool short_of = view.busy >= kBusy && *arrived_ < kDrains * meter_.demand();
  draining_ = short_of && view.here >= *asked_ ? draining_ + 1 : 0;
  return draining_ >= kDrainsLong;
}

ScaleDecision Autoscaler::fed(const ScaleInput& input, const View& view) {
  starving_ = 0;
  idle_ = 0;
  gain_.reset();
  search_.reset();
  const double exact = workers_for(meter_.demand(), view);
  const double wanted =
      std::max<double>(std::ceil(exact * kDown - options_.worth), floor_for(view));
  const std::uint32_t fewer = bounded(wanted);
  if (drains(view) && !at_ceiling()) {
    return grow(input, view, std::max(std::ceil(exact - options_.worth), *asked_ + 1.0));
  }
  const bool saves = fewer<*asked_&& * asked_ - fewer> kNotWorthIt * *asked_;
  const bool same = anchor_ && std::abs(exact - *anchor_) <= kOtherDemand * *anchor_;
  if (!saves || same) {
    fewer_ = 0;
    fewer_for_ = 0;
    most_of_those_ = 0;
    if (++enough_ == kRight) {
      anchor_ = exact;
      needed_ = *asked_;
    }
    return keep(sum(view) + ": " + count(*asked_) + " are right");
  }
  most_of_those_ = std::max(most_of_those_, fewer);
  fewer_for_ += input.seconds;
  ++fewer_;
  const bool long_enough = anchor_
                               ? fewer_ >= kFewerLater && fewer_for_ >= options_.patience_seconds
                               : fewer_ >= kFewerAtFirst;
  if (!long_enough) return keep(sum(view) + ": " + count(fewer) + " would do, kept for now");
  return change(most_of_those_, sum(view) + ": " + count(most_of_those_) + " have been enough");
}

}  // namespace forebay::scheduler
