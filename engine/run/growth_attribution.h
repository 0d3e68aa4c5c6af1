#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace forebay {

/// Estimates which functions' calls make memory grow, from the times at which calls begin and end
/// and the resident bytes at these times.
///
/// Model: each function, and everything outside of functions, grows memory at a constant rate per
/// thread in it; noise grows with time. The rates are the least-squares fit over all intervals
/// between two events, so overlapping calls and calls that always follow one another are separated;
/// the rate of everything else is fitted as if it had been 0 for one second before. Needs memory
/// for the square of the number of functions. Pure state: time comes from outside; callers
/// serialise access.
class GrowthAttribution {
 public:
  using Time = std::chrono::nanoseconds;

  /// A thread enters or leaves function `number` (small numbers, counted from 0) while `bytes` are
  /// resident. Each enter needs a leave. Times never decrease.
  void enter(std::size_t number, Time at, std::int64_t bytes);
  void leave(std::size_t number, Time at, std::int64_t bytes);
  /// Records that `bytes` are resident, between two calls or during one.
  void note(Time at, std::int64_t bytes);

  /// Returns the estimated growth during the calls of each function, in bytes; may be negative.
  std::vector<double> growth() const;
  /// Returns the function with the largest growth; nullopt if no function's growth is positive.
  std::optional<std::size_t> likely() const;

 private:
  void make_room(std::size_t number);
  std::size_t size() const { return threads_.size(); }
  double& overlap(std::size_t a, std::size_t b) { return overlaps_[a * size() + b]; }

  // Number 0 is everything else and is always active; functions follow.
  std::vector<double> threads_{1};   // active now
  std::vector<double> seen_{0};      // sums of threads × growth
  std::vector<double> overlaps_{0};  // a × b: integrals of threads of a × threads of b, in seconds
  std::optional<Time> at_;
  std::int64_t bytes_ = 0;
};

}  // namespace forebay
