#pragma once

#include <algorithm>
#include <chrono>

namespace forebay {

/// Returns the time `patience` after `now`. A patience without a limit, such as
/// std::chrono::nanoseconds::max(), ends after a century: sums with that still fit.
constexpr std::chrono::nanoseconds deadline_after(std::chrono::nanoseconds now,
                                                  std::chrono::nanoseconds patience) {
  constexpr std::chrono::hours kCentury(100 * 365 * 24);
  return now + std::min<std::chrono::nanoseconds>(patience, kCentury);
}

}  // namespace forebay
