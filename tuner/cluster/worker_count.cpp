#include "tuner/cluster/worker_count.h"

#include <algorithm>
#include <cmath>

namespace forebay::tuner {
namespace {

constexpr int kLearning = 4;     // intervals in which the costs alone decide
constexpr int kSettling = 2;     // intervals after a change that do not count
constexpr int kJudged = 3;       // intervals that a try is judged by
constexpr int kLonger = 6;       // the same, where the loss or gain is unclear
constexpr int kMost = 10;        // of the last intervals whose mean counts
constexpr int kRest = 20;        // intervals after a try that failed
constexpr int kHopeless = 20;    // intervals without a split while the trainer waits
constexpr double kSame = 0.012;  // of the rate: less is noise
constexpr double kUnclear = 0.05;
constexpr double kMuch = 0.08;     // of the rate: a loss that ends a try at once
constexpr double kAtOnce = 0.2;    // a loss in the first interval that ends a try at once
constexpr double kDelivers = 0.9;  // of what the fed nodes can
constexpr double kStarves = 0.03;  // a share of time from which the trainer is short of data
constexpr double kOther = 0.15;    // a change of the wanted rate that is another work

}  // namespace

std::uint32_t WorkerCount::move_to(std::uint32_t workers, Trying trying, const char* why) {
  trying_ = trying;
  now_ = workers;
  intervals_ = counted_ = 0;
  sum_ = wait_sum_ = 0;
  why_ = why;
  return now_;
}

bool WorkerCount::rests() const {
  return begun_ && age_ > kLearning && trying_ == Trying::kNothing;
}

void WorkerCount::begin_anew(const CountSeen& seen) {
  begun_ = true;
  age_ = departed_ = rest_ = 0;
  next_rest_ = kRest;
  step_ = 1;
  knows_too_few_ = false;
  useless_ = 0;
  anchor_ = seen.demand;
  anchor_available_ = seen.available;
}

bool WorkerCount::work_changed(const CountSeen& seen) {
  if (!begun_ || seen.available != anchor_available_) return true;
  if (age_ < kLearning) {
    anchor_ = seen.demand;
    return false;
  }
  const bool other = std::abs(seen.demand - anchor_) > kOther * anchor_;
  departed_ = other ? departed_ + 1 : 0;
  return departed_ >= 3;
}

// An interval without a split says nothing of the number: the trainer evaluates, or splits are
// longer than intervals. But where it waits for long, perhaps the workers that are fed hang.
std::uint32_t WorkerCount::while_nothing_is_made(const CountSeen& seen) {
  nothing_ = seen.waited > kStarves ? nothing_ + 1 : 0;
  const bool same_nodes = begun_ && seen.available == anchor_available_;
  if (same_nodes && nothing_ < kHopeless) return move_to(now_, trying_, why_);
  return move_to(seen.available, Trying::kNothing, "nothing is made");
}

// The mean of a long rest would hide what the last intervals show.
void WorkerCount::measure(const CountSeen& seen) {
  if (++intervals_ <= kSettling) return;
  if (counted_ == kMost) {
    sum_ /= 2;
    wait_sum_ /= 2;
    counted_ /= 2;
  }
  sum_ += seen.rate;
  wait_sum_ += seen.waited;
  ++counted_;
}

std::uint32_t WorkerCount::decide(const CountSeen& seen) {
  // What is held is judged anew afterwards; a node that came or went is obeyed at once.
  if (seen.held && begun_ && seen.available == anchor_available_) {
    return move_to(now_, trying_, why_);
  }
  if (seen.wanted <= 0) return while_nothing_is_made(seen);
  nothing_ = 0;
  if (seen.renewed || work_changed(seen)) begin_anew(seen);
  const std::uint32_t planned = std::min(seen.planned, seen.available);
  if (++age_ <= kLearning) return move_to(planned, Trying::kNothing, "by the costs");
  measure(seen);
  if (rest_ > 0) --rest_;
  const double rate = counted_ > 0 ? sum_ / counted_ : seen.rate;
  const bool lost =
      trying_ == Trying::kFewer && ((counted_ >= 1 && rate < (1 - kMuch) * before_rate_) ||
                                    seen.rate < (1 - kAtOnce) * before_rate_);
  if (counted_ < kJudged && !lost) return now_;
  const double departs = std::abs(rate / std::max(before_rate_, 1e-9) - 1);
  if (trying_ != Trying::kNothing && departs > kSame && departs < kUnclear && counted_ < kLonger) {
    return now_;
  }
  if (trying_ == Trying::kFewer) return judge_fewer(rate);
  if (trying_ == Trying::kMore) return judge_more(rate);
  return next_try(seen, rate);
}

std::uint32_t WorkerCount::judge_fewer(double rate) {
  const double worth = kPrice * static_cast<double>(before_ - now_);
  if (rate >= before_rate_ * (1 - std::min(worth, 0.03) - kSame)) {
    step_ *= 2;
    return move_to(now_, Trying::kNothing, "fewer workers bring the same");
  }
  too_few_ = std::max(knows_too_few_ ? too_few_ : 0, now_);
  knows_too_few_ = true;
  if (step_ == 1) {
    rest_ = next_rest_;
    next_rest_ *= 2;
  }
  step_ = 1;
  return move_to(before_, Trying::kNothing, "fewer workers bring less");
}

std::uint32_t WorkerCount::judge_more(double rate) {
  const double worth = kPrice * static_cast<double>(now_ - before_);
  if (rate > before_rate_ * (1 + worth + kSame)) {
    too_few_ = before_;
    knows_too_few_ = true;
    return move_to(now_, Trying::kNothing, "more workers bring more");
  }
  useless_ = now_;
  rest_ = kRest;
  return move_to(before_, Trying::kNothing, "more workers bring no more");
}

std::uint32_t WorkerCount::next_try(const CountSeen& seen, double rate) {
  before_ = now_;
  before_rate_ = rate;
  const bool waits = wait_sum_ / counted_ > kStarves;
  const std::uint32_t most = useless_ > 0 ? std::min(useless_ - 1, seen.available) : seen.available;
  if (waits && rate < (1 - kStarves) * seen.wanted && now_ < most) {
    const std::uint32_t more = std::clamp(seen.planned, now_ + 1, now_ + std::max(1U, now_ / 4));
    return move_to(std::min(more, most), Trying::kMore, "tries more workers");
  }
  // Nodes that make all that they can are all needed by a trainer that waits.
  if (waits && seen.able > 0 && rate >= kDelivers * seen.able) return now_;
  const std::uint32_t least = knows_too_few_ ? too_few_ + 1 : 0;
  if (rest_ > 0 || now_ <= least) return now_;
  // Below what the costs say, one at a time.
  const std::uint32_t far = now_ > seen.least ? now_ - seen.least : 1;
  const std::uint32_t step = std::min({step_, far, std::max(1U, (now_ - least + 1) / 2)});
  return move_to(now_ - step, Trying::kFewer, "tries fewer workers");
}

}  // namespace forebay::tuner
