#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace forebay {

/// A request to stop one run, which its threads look at.
///
/// Any thread may ask and look, a signal handler too.
class StopSource {
 public:
  /// `signal` is the one that stands for the request, as exit statuses have it: SIGINT for a
  /// program's own wish. The first request counts; false: there was one.
  bool ask(int signal);

  /// The signal that asked, or 0.
  int signal() const { return signal_.load(); }
  bool requested() const { return signal() != 0; }
  /// For how long it has been asked for; 0 before.
  std::chrono::nanoseconds since() const;
  /// The same for code that knows nothing of signals.
  const std::atomic<bool>& flag() const { return flag_; }

 private:
  static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
                std::atomic<std::int64_t>::is_always_lock_free);

  std::atomic<int> signal_{0};
  std::atomic<bool> flag_{false};
  std::atomic<std::int64_t> asked_at_ns_{0};  // 0: it was not
};

}  // namespace forebay
