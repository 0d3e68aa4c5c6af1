#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

namespace forebay::tuner {

/// Compares memory in use with the limit, at every moment.
///
/// A lowered limit is enforced kGraceSeconds later; a raised one counts at once. The memory that
/// leaving actors hold at that moment can be exempted.
class MemoryAccount {
 public:
  static constexpr double kGraceSeconds = 4;  ///< Two periods of a tuner.

  MemoryAccount(std::uint64_t base_bytes, std::uint64_t limit);

  void take(std::uint64_t bytes) {
    used_ += bytes;
    if (used_ > watched_) check();
  }
  void give(std::uint64_t bytes) { used_ -= bytes; }

  void set_limit(double now, std::uint64_t limit);
  std::uint64_t limit() const { return declared_.back().limit; }
  /// When a limit that was set takes effect; infinity: no limit is pending.
  double next_change() const;
  /// Puts limits that are due into effect; returns true if the limit became lower. Then `leaving`
  /// bytes do not count from now on, until give_exempt() returns them.
  bool enforce(double now, std::uint64_t leaving);
  void give_exempt(std::uint64_t bytes);

  bool exceeded() const { return exceeded_; }
  std::uint64_t used() const { return used_; }
  std::uint64_t peak() const { return peak_; }  ///< Since restart_peak().
  std::uint64_t peak_ever() const { return std::max(peak_ever_, peak_); }
  void restart_peak();

 private:
  struct Declared {
    double from;
    std::uint64_t limit;
  };

  void check();

  std::uint64_t used_;
  std::uint64_t watched_ = 0;  // Threshold above which take() calls check().
  std::uint64_t peak_;
  std::uint64_t peak_ever_;
  std::uint64_t exempt_ = 0;
  std::uint64_t enforced_;
  std::deque<Declared> declared_;  // The last limit, and earlier ones that still count.
  bool exceeded_ = false;
};

}  // namespace forebay::tuner
