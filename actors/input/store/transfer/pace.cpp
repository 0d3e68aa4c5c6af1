#include "actors/input/store/transfer/pace.h"

#include <algorithm>

namespace forebay {

std::chrono::nanoseconds Backoff::next(Random& random) {
  constexpr std::chrono::nanoseconds kFirst = std::chrono::milliseconds(100);
  constexpr std::chrono::nanoseconds kMost = std::chrono::seconds(20);
  const auto cap = std::min(kMost, kFirst * (1 << std::min(attempts_++, 10)));
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(random.uniform() * static_cast<double>(cap.count())));
}

void HedgeRule::add_longest_wait(std::chrono::nanoseconds wait) {
  waits_[num_waits_++ % kKept] = wait.count();
}

std::chrono::nanoseconds HedgeRule::percentile() const {
  constexpr std::size_t kEnough = 20;
  constexpr std::size_t kEvery = 16;
  if (num_waits_ < kEnough) return std::chrono::hours(1);
  if (percentile_of_ == 0 || num_waits_ >= percentile_of_ + kEvery) {
    auto sorted = waits_;
    const std::size_t count = std::min(num_waits_, kKept);
    const auto at = sorted.begin() + static_cast<std::ptrdiff_t>((count * 95 + 99) / 100 - 1);
    std::nth_element(sorted.begin(), at, sorted.begin() + static_cast<std::ptrdiff_t>(count));
    percentile_ = std::chrono::nanoseconds(*at);
    percentile_of_ = num_waits_;
  }
  return percentile_;
}

bool HedgeRule::allows(std::chrono::nanoseconds wait) const {
  if (budget_ < 1) return false;
  const auto usual = percentile();
  if (wait <= usual) return false;
  return budget_ >= kMostBudget / 2 || wait > 4 * usual;
}

}  // namespace forebay
