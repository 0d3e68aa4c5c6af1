#pragma once

#include <algorithm>
#include <cstdint>

namespace forebay::scheduler {

/// Decides when the launcher is asked once more for workers that are not here: soon for one that
/// was here and died, late for one that was never started, and ever later; at once for those that
/// are missing before any number was asked for. A value.
class MissingWorkers {
 public:
  /// Another number was asked for.
  void begin() {
    seconds_ = 0;
    ask_again_ = kAskAtMost;
  }

  /// Adds an interval in which `here` of `asked` workers are here. Returns whether to ask again.
  bool again(std::uint32_t asked, std::uint32_t here, double seconds) {
    if (here >= asked) {
      seconds_ = 0;
      ask_again_ = kDied;
      return false;
    }
    seconds_ += seconds;
    if (seconds_ < ask_again_) return false;
    ask_again_ = seconds_ + std::min(kAskAtMost, kAskLater * ask_again_);
    return true;
  }

  /// For how long fewer workers than asked for are here.
  double seconds() const { return seconds_; }

 private:
  static constexpr double kDied = 10;        // seconds until a worker is replaced
  static constexpr double kAskLater = 2;     // times the wait before, up to
  static constexpr double kAskAtMost = 600;  // seconds

  double seconds_ = 0;
  double ask_again_ = 0;  // seconds of absence
};

}  // namespace forebay::scheduler
