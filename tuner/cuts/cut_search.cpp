#include "tuner/cuts/cut_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace forebay::tuner {
namespace {

constexpr std::size_t kMeasured = 3;   // intervals of which the mean is a rate
constexpr std::size_t kKept = 6;       // intervals that are kept
constexpr int kLongestTrial = 12;      // intervals of a trial whose rate still grows
constexpr double kGrowing = 1.04;      // times the rate of the intervals before
constexpr double kGain = 1.03;         // times the rate before, from which a trial stays
constexpr double kHopeless = 0.9;      // times the rate before, below which it ends early
constexpr double kRoom = 0.85;         // of the CPUs: below, more actors can do more
constexpr double kFull = 0.95;         // of the CPUs: from here on they are the limit
constexpr double kOtherWaiting = 0.2;  // difference of the shares from which a cut may pay
constexpr double kAlike = 0.5;         // difference up to which a join may pay
constexpr double kChanged = 0.25;      // of the rate, that means other work
constexpr int kRest = 30;              // intervals
constexpr double kMostLost = 0.05;     // of the rate, that trials may cost
constexpr int kLongestRest = 480;

double difference(const CutInterval& seen, std::size_t stage) {
  return std::abs(seen.waiting[stage] - seen.waiting[stage - 1]);
}

}  // namespace

CutSearch::CutSearch(Joins may_join, Joins start)
    : may_join_(std::move(may_join)),
      stands_(std::move(start)),
      failed_(may_join_.size()),
      rest_(kRest) {}

void CutSearch::adopt(Joins joins) {
  stands_ = std::move(joins);
  trial_.reset();
  restart();
}

void CutSearch::restart() {
  rates_.clear();
  intervals_ = 0;
}

double CutSearch::mean_of_last(std::size_t count) const {
  return std::accumulate(rates_.end() - static_cast<std::ptrdiff_t>(count), rates_.end(), 0.0) /
         static_cast<double>(count);
}

/// Whether the last intervals brought clearly more than those before: the number of actors has yet
/// to settle.
bool CutSearch::still_grows() const {
  if (rates_.size() < kMeasured + 1) return true;
  const std::size_t before = std::min(rates_.size() - 2, std::size_t{2});
  const double last = mean_of_last(2);
  const double sum = mean_of_last(2 + before) * static_cast<double>(2 + before);
  return last > kGrowing * (sum - 2 * last) / static_cast<double>(before);
}

// The first interval has splits that were made with the cuts before.
std::optional<CutTrial> CutSearch::add(const CutInterval& seen) {
  if (++intervals_ > 1) rates_.push_back(seen.splits_per_second);
  if (rates_.size() > kKept) rates_.pop_front();
  count_loss(seen.splits_per_second);
  if (trial_) return judge();
  watch_rest();
  if (!seen.fed && !still_grows()) consider(seen);
  return std::nullopt;
}

void CutSearch::count_loss(double splits_per_second) {
  if (trial_) lost_ += std::max(0.0, 1 - splits_per_second / trial_->rate_before);
  lost_ = std::max(0.0, lost_ - kMostLost);
}

std::optional<CutTrial> CutSearch::judge() {
  if (rates_.size() < 2) return std::nullopt;
  const bool hopeless =
      std::max(rates_.back(), rates_[rates_.size() - 2]) < kHopeless * trial_->rate_before;
  if (!hopeless && still_grows() && intervals_ < kLongestTrial) return std::nullopt;
  trial_->rate_tried = mean_of_last(std::min(rates_.size(), kMeasured));
  trial_->kept = !hopeless && trial_->rate_tried > kGain * trial_->rate_before;
  if (trial_->kept) {
    stands_ = trial_->tried;
    failed_.assign(failed_.size(), false);
    rest_ = kRest;
  } else {
    for (std::size_t i = 0; i < failed_.size(); ++i) {
      if (trial_->tried[i] != trial_->before[i]) failed_[i] = true;
    }
    rested_ = 0;
    rest_rate_ = trial_->rate_before;
  }
  restart();
  return std::exchange(trial_, std::nullopt);
}

void CutSearch::consider(const CutInterval& seen) {
  std::optional<std::size_t> moved;
  if (seen.used < kRoom) moved = next_cut(seen);
  if (!moved && seen.wanted >= kFull) moved = next_join(seen);
  if (!moved) return;
  trial_ = CutTrial{.before = stands_, .tried = stands_, .rate_before = mean_of_last(kMeasured)};
  trial_->tried[*moved] = !trial_->tried[*moved];
  restart();
}

/// The stage that waits least as the one before it does, among those that are joined.
std::optional<std::size_t> CutSearch::next_cut(const CutInterval& seen) const {
  std::optional<std::size_t> best;
  for (std::size_t i = 1; i < stands_.size(); ++i) {
    if (!stands_[i] || failed_[i] || difference(seen, i) < kOtherWaiting) continue;
    if (!best || difference(seen, i) > difference(seen, *best)) best = i;
  }
  return best;
}

/// The stage that waits most as the one before it does, among those that may join.
std::optional<std::size_t> CutSearch::next_join(const CutInterval& seen) const {
  std::optional<std::size_t> best;
  for (std::size_t i = 1; i < stands_.size(); ++i) {
    if (stands_[i] || !may_join_[i] || failed_[i] || difference(seen, i) > kAlike) continue;
    if (!best || difference(seen, i) < difference(seen, *best)) best = i;
  }
  return best;
}

void CutSearch::watch_rest() {
  if (std::ranges::find(failed_, true) == failed_.end()) return;
  ++rested_;
  const bool measured = rates_.size() >= kMeasured;
  const double rate = measured ? mean_of_last(kMeasured) : rest_rate_;
  const bool changed = std::abs(rate - rest_rate_) > kChanged * rest_rate_;
  if (lost_ > 0 || (!changed && rested_ < rest_)) return;
  rest_ = changed ? kRest : std::min(2 * rest_, kLongestRest);
  rested_ = 0;
  failed_.assign(failed_.size(), false);
}

}  // namespace forebay::tuner
