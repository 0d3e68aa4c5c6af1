#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "scheduler/head/lease_table.h"
#include "scheduler/head/members.h"

namespace forebay::scheduler {

/// The usual time of a split from its lease to its arrival: the median of the last 64. A value;
/// belongs to one thread.
class UsualTime {
 public:
  using Duration = std::chrono::nanoseconds;

  void saw(Duration took) { last_[seen_++ % last_.size()] = took; }

  /// Nothing until 8 times are known: fewer are not enough to call another split slow.
  std::optional<Duration> median() const;

 private:
  std::array<Duration, 64> last_ = {};
  std::size_t seen_ = 0;
};

/// When a split that the trainer waits for is leased to a second worker.
struct StragglerRule {
  double times_usual = 4;
  std::chrono::nanoseconds at_least = std::chrono::milliseconds(500);

  /// The age of a lease at which its split counts as late; nothing while the usual time is unknown.
  std::optional<std::chrono::nanoseconds> patience(const UsualTime& usual) const;
};

/// Whether members idle because of `holder`: no split waits to be leased, and a member that could
/// hold splits holds zero. Pure.
bool others_idle(std::uint64_t holder, const LeaseTable& leases, const Members& members);

/// How long the lowest missing split has been the lowest: what all members wait for. A value.
class LowestWatch {
 public:
  using Time = std::chrono::nanoseconds;

  /// Call it after every change of the leases.
  void look(const LeaseTable& leases, Time now);
  /// The time for which `split` has been the lowest; nothing if it is not.
  std::optional<Time> waited_for(std::uint64_t split, Time now) const;
  /// The usual such time, of splits that have arrived.
  UsualTime usual;

 private:
  std::optional<std::uint64_t> split_;
  Time since_{0};
};

/// A second lease of a split that is late.
struct SecondLease {
  std::uint64_t split = 0;
  std::uint64_t late = 0;   ///< Incarnation of the member that has had it for too long.
  std::uint64_t other = 0;  ///< Of the fastest other member that may be leased splits.
};
/// Returns the second lease that the lowest missing split needs, if it is late, has one holder, and
/// another member has space. May exceed that member's capacity by one split, because the trainer
/// waits for this split. Pure.
std::optional<SecondLease> second_lease(const StragglerRule& rule, const UsualTime& usual,
                                        const LeaseTable& leases, const Members& members,
                                        std::chrono::nanoseconds now);

}  // namespace forebay::scheduler
