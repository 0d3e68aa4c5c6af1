#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace forebay {

/// Estimates during whose calls memory grows, from when calls begin and end and how much is
/// resident at these moments.
///
/// Model: each function, and everything outside of functions, grows memory at a constant rate per
/// thread in it; noise grows with time. The rates are the least-squares fit over all intervals
/// between two events, so overlapping calls and calls that always follow one another are separated;
/// that of everything else is fitted as if it had been 0 for a second before.
/// Takes memory of functions squared. Pure state: time comes from outside; callers serialise
/// access.
class GrowthAttribution {
 public:
  using Time = std::chrono::nanoseconds;

  /// A thread enters, or leaves, function `number` (small numbers, counted from 0) while `bytes`
  /// are resident. What enters leaves. Times never go back.
  void enter(std::size_t number, Time at, std::int64_t bytes);
  void leave(std::size_t number, Time at, std::int64_t bytes);
  /// So many bytes are resident between two calls or in the middle of one.
  void note(Time at, std::int64_t bytes);

  /// Estimated growth during the calls of each function, in bytes; may be negative.
  std::vector<double> growth() const;
  /// The function with the most of it; nothing where no function's is positive.
  std::optional<std::size_t> likely() const;

 private:
  void make_room(std::size_t number);
  std::size_t size() const { return threads_.size(); }
  double& overlap(std::size_t a, std::size_t b) { return overlaps_[a * size() + b]; }

  // Number 0 is all else, always in work; functions follow.
  std::vector<double> threads_{1};   // in work now
  std::vector<double> seen_{0};      // sums of threads × growth
  std::vector<double> overlaps_{0};  // a × b: integrals of threads of a × threads of b, in seconds
  std::optional<Time> at_;
  std::int64_t bytes_ = 0;
};

}  // namespace forebay
