#include "tuner/thread_search.h"

#include <algorithm>
#include <cmath>

#include "core/base/median.h"

namespace forebay::tuner {

ThreadSearch::ThreadSearch(Options options)
    : options_(options),
      most_(options.most),
      stands_(std::clamp(options.start, 1, std::max(options.most, 1))),
      using_(stands_),
      rest_(options.rest) {}

void ThreadSearch::begin(Phase phase, int threads) {
  phase_ = phase;
  using_ = threads;
  left_out_ = 0;
  rates_.clear();
}

int ThreadSearch::next_trial() const {
  if (!more_failed_ && stands_ < most_) return stands_ + 1;
  if (!fewer_failed_ && stands_ > 1) return stands_ - 1;
  return 0;
}

void ThreadSearch::allow(int most) {
  most_ = most;
  if (rests() && !more_failed_ && stands_ < most_) begin(Phase::kStand, stands_);
}

void ThreadSearch::interrupt() { begin(rests() ? Phase::kRest : Phase::kStand, stands_); }

std::optional<ThreadTrial> ThreadSearch::add(double rate_of_window) {
  if (left_out_ < options_.settle) {
    ++left_out_;
    return std::nullopt;
  }
  rates_.push_back(rate_of_window);
  if (!has_measured()) return std::nullopt;
  const double rate = median(rates_);
  rates_.clear();
  if (phase_ == Phase::kTry) return tried(rate);
  if (phase_ == Phase::kRest) {
    rested(rate);
    return std::nullopt;
  }
  current_rate_ = rest_rate_ = rate;
  rested_ = 0;
  const int next = next_trial();
  next > 0 ? begin(Phase::kTry, next) : begin(Phase::kRest, stands_);
  return std::nullopt;
}

bool ThreadSearch::has_measured() const {
  if (static_cast<int>(rates_.size()) >= options_.windows) return true;
  return phase_ == Phase::kTry && rates_.size() >= 2 &&
         *std::max_element(rates_.begin(), rates_.end()) < current_rate_ * (1 - options_.hopeless);
}

// Measures the current number again before it tries the other neighbour, so that a change in
// between is not attributed to that neighbour.
std::optional<ThreadTrial> ThreadSearch::tried(double rate) {
  ThreadTrial trial{.before = stands_,
                    .tried = using_,
                    .rate_before = current_rate_,
                    .rate_tried = rate,
                    .kept = rate > current_rate_ * (1 + options_.gain)};
  const bool more = trial.tried > trial.before;
  if (trial.kept) {
    stands_ = trial.tried;
    more_failed_ = !more;
    fewer_failed_ = more;
    rest_ = options_.rest;
  } else {
    (more ? more_failed_ : fewer_failed_) = true;
  }
  begin(Phase::kStand, stands_);
  return trial;
}

void ThreadSearch::rested(double rate) {
  rested_ += options_.windows;
  const bool changed = std::abs(rate - rest_rate_) > options_.change * rest_rate_;
  if (!changed && rested_ < rest_) return;
  rest_ = changed ? options_.rest : std::min(2 * rest_, options_.most_rest);
  more_failed_ = fewer_failed_ = false;
  begin(Phase::kStand, stands_);
}

}  // namespace forebay::tuner
