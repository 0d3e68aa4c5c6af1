#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace forebay {

/// A request to stop one run, which the run's threads poll.
///
/// Any thread may request a stop and poll it, a signal handler too.
class StopSource {
 public:
  /// Requests a stop. `signal` stands for the request in exit statuses: SIGINT if the program
  /// itself wants to stop. Only the first request counts; returns false if there was one.
  bool ask(int signal);

  /// Returns the signal of the request, or 0.
  int signal() const { return signal_.load(); }
  bool requested() const { return signal() != 0; }
  /// Returns the time since the request; 0 without one.
  std::chrono::nanoseconds since() const;
  /// The same for code without knowledge of signals.
  const std::atomic<bool>& flag() const { return flag_; }

 private:
  static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
                std::atomic<std::int64_t>::is_always_lock_free);

  std::atomic<int> signal_{0};
  std::atomic<bool> flag_{false};
  std::atomic<std::int64_t> asked_at_ns_{0};  // 0: no request
};

}  // namespace forebay
