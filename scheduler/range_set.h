#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/base/result.h"
#include "scheduler/protocol.h"

namespace forebay::scheduler {

/// A set of numbers stored as ranges that neither overlap nor touch. It holds finished splits:
/// mostly one range and a few ahead of it. A value.
class RangeSet {
 public:
  /// Adds `first` to `last`, both included; returns how many are new. No effect if last < first.
  std::uint64_t add(std::uint64_t first, std::uint64_t last);

  /// Adds all numbers below `end`.
  std::uint64_t add_below(std::uint64_t end) { return end == 0 ? 0 : add(0, end - 1); }

  bool contains(std::uint64_t number) const;

  /// The lowest number that is not in the set.
  std::uint64_t lowest_missing() const;

  std::uint64_t size() const { return size_; }

  /// The ranges above lowest_missing(), in order.
  std::vector<SplitRange> ahead() const;

  /// Two numbers for each range: its distance from the end of the previous range, and its length
  /// minus 1. These are small, so alternating finished and unfinished splits take two bytes per
  /// range.
  std::vector<std::uint64_t> packed() const;
  /// Decodes the result of packed(); kCorrupt for other input.
  static Result<RangeSet> unpack(const std::vector<std::uint64_t>& packed);

  bool operator==(const RangeSet& other) const { return ranges_ == other.ranges_; }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // first → last
  std::uint64_t size_ = 0;
};

}  // namespace forebay::scheduler
