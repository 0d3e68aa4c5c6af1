#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/base/result.h"
#include "scheduler/job_share.h"

namespace forebay::scheduler {

/// A set of numbers kept as ranges that neither overlap nor touch: what is finished, mostly one
/// range and a few ahead of it. A value.
class RangeSet {
 public:
  /// Adds `first` … `last`; returns how many of them are new. Nothing happens when last < first.
  std::uint64_t add(std::uint64_t first, std::uint64_t last);

  /// Adds all numbers below `end`.
  std::uint64_t add_below(std::uint64_t end) { return end == 0 ? 0 : add(0, end - 1); }

  bool contains(std::uint64_t number) const;

  /// The lowest number that is not in the set.
  std::uint64_t lowest_missing() const;

  std::uint64_t size() const { return size_; }
  std::size_t num_ranges() const { return ranges_.size(); }

  /// Those above lowest_missing(), in order.
  std::vector<SplitRange> ahead() const;

  /// Two numbers a range: its distance from the end of the one before, and its length less 1.
  /// Small numbers, so that they take two bytes a range where finished and others alternate.
  std::vector<std::uint64_t> packed() const;
  /// Refuses with kCorrupt what packed() never gives.
  static Result<RangeSet> unpack(const std::vector<std::uint64_t>& packed);

  bool operator==(const RangeSet& other) const { return ranges_ == other.ranges_; }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // first → last
  std::uint64_t size_ = 0;
};

}  // namespace forebay::scheduler
