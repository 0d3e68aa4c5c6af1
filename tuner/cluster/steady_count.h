#pragma once

#include <cstdint>
#include <optional>

namespace forebay::tuner {

/// Makes a number steady that is computed anew in each interval from noisy measurements: it rises
/// or falls once the computed number has been higher, or lower, for some intervals in a row, and
/// then to the nearest of their numbers. A value.
class SteadyCount {
 public:
  static constexpr int kHigher = 2;  ///< Intervals: a trainer that waits is helped soon.
  static constexpr int kLower = 3;

  /// Takes the number that was computed and returns the steady one.
  std::uint32_t of(std::uint32_t computed);

 private:
  enum class Side : std::uint8_t { kSame, kHigher, kLower };

  std::optional<std::uint32_t> now_;
  Side side_ = Side::kSame;  // of the last numbers, seen from now_
  int intervals_ = 0;        // in a row on this side
  std::uint32_t next_ = 0;   // the nearest of their numbers
};

}  // namespace forebay::tuner
