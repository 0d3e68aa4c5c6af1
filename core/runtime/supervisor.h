#pragma once

#include <chrono>
#include <cstddef>
#include <deque>

namespace forebay {

/// How often a crashed actor may start again: `restarts` times within any `period`.
struct RestartLimit {
  std::size_t restarts = 0;
  std::chrono::nanoseconds period = std::chrono::minutes(1);
};

/// Decides after each crash whether the actor starts again. Pure but for what it remembers:
/// the restarts of the last period. Belongs to one actor.
class Supervisor {
 public:
  explicit Supervisor(RestartLimit limit) : limit_(limit) {}

  /// True, and remembered, when one more restart is within the limit.
  [[nodiscard]] bool allow_restart(std::chrono::nanoseconds now) {
    while (!recent_.empty() && now - recent_.front() >= limit_.period) recent_.pop_front();
    if (recent_.size() >= limit_.restarts) return false;
    recent_.push_back(now);
    return true;
  }

 private:
  const RestartLimit limit_;
  std::deque<std::chrono::nanoseconds> recent_;
};

}  // namespace forebay
