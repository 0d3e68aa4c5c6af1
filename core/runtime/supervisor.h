#pragma once

#include <chrono>
#include <cstddef>
#include <deque>

namespace forebay {

/// The restart limit of a crashed actor: `restarts` times within any `period`.
struct RestartLimit {
  std::size_t restarts = 0;
  std::chrono::nanoseconds period = std::chrono::minutes(1);
};

/// Decides after each crash whether the actor starts again. Remembers the restarts of the last
/// period; otherwise pure. Belongs to one actor.
class Supervisor {
 public:
  explicit Supervisor(RestartLimit limit) : limit_(limit) {}

  /// Returns true, and records a restart, if one more restart is within the limit.
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
