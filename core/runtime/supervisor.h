#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// Runs a handler and converts an exception into an Error with the exception's message.
///
/// The only catch-all: for exceptions of libraries, out of memory, and bugs in handlers.
template <class Handler>
std::optional<Error> catch_crash(Handler&& handler) {
  try {
    std::forward<Handler>(handler)();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return Error{Code::kUnavailable, "out of memory"};
  } catch (const std::exception& thrown) {
    return Error{Code::kUnavailable, thrown.what()};
  } catch (...) {
    return Error{Code::kUnavailable, "an exception without words"};
  }
}

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
    const auto past = [&](std::chrono::nanoseconds at) { return now - at >= limit_.period; };
    recent_.erase(recent_.begin(), std::ranges::find_if_not(recent_, past));
    if (recent_.size() >= limit_.restarts) return false;
    recent_.push_back(now);
    return true;
  }

 private:
  const RestartLimit limit_;
  std::vector<std::chrono::nanoseconds> recent_;  // No memory before the first crash.
};

}  // namespace forebay
