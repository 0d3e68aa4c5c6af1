#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

namespace forebay::scheduler {

/// The usual time of a split from its lease to its arrival: the median of the last 64. A value;
/// belongs to one thread.
class UsualTime {
 public:
  using Duration = std::chrono::nanoseconds;

  void saw(Duration took) { last_[seen_++ % last_.size()] = took; }

  /// Nothing until 8 times are known: fewer are not enough to call another split slow.
  std::optional<Duration> median() const {
    if (seen_ < 8) return std::nullopt;
    auto some = last_;
    const std::size_t count = std::min(seen_, some.size());
    const auto middle = some.begin() + static_cast<std::ptrdiff_t>(count / 2);
    std::nth_element(some.begin(), middle, some.begin() + static_cast<std::ptrdiff_t>(count));
    return *middle;
  }

 private:
  std::array<Duration, 64> last_ = {};
  std::size_t seen_ = 0;
};

/// When a split that the trainer waits for is leased to a second worker.
struct StragglerRule {
  double times_usual = 4;
  std::chrono::nanoseconds at_least = std::chrono::milliseconds(500);

  /// The age of a lease at which its split counts as late; nothing while the usual time is unknown.
  std::optional<std::chrono::nanoseconds> patience(const UsualTime& usual) const {
    const auto median = usual.median();
    if (!median) return std::nullopt;
    const std::chrono::duration<double, std::nano> many(times_usual *
                                                        static_cast<double>(median->count()));
    return std::max(at_least, std::chrono::duration_cast<std::chrono::nanoseconds>(many));
  }
};

}  // namespace forebay::scheduler
