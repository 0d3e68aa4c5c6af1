#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace forebay::scheduler {

/// How many splits a member may hold, after other members had to wait for its splits.
///
/// Splits are needed in order, so while the lowest one is late all others wait: a member behind a
/// slow link makes the whole run as slow as itself. Each time it was late a member may hold half as
/// many splits as it held. At zero the member rests, twice as long each time, and then tries
/// one. Splits that come in time raise the number again, one by one. A value.
class LeaseAllowance {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

  /// Others waited for a split of the member, which holds `held` others.
  void late(std::uint64_t held, Time now);
  /// A split of the member came before others had to wait for it.
  void in_time();
  /// The most splits that it may hold now.
  std::uint64_t most(Time now) const;

 private:
  static constexpr std::uint64_t kInTime = 4;   // splits in time, for one more
  static constexpr std::uint64_t kEnough = 64;  // from which there is no limit again
  static constexpr Time kFirstRest = std::chrono::seconds(5);
  static constexpr Time kLongestRest = std::chrono::minutes(2);

  std::uint64_t most_ = kUnlimited;
  std::uint64_t in_time_ = 0;
  Time rests_until_{0};
  Time rest_ = kFirstRest;
};

}  // namespace forebay::scheduler
