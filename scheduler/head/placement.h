#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/result.h"
#include "scheduler/head/lease_table.h"
#include "scheduler/head/members.h"

namespace forebay::scheduler {

/// Which nodes get work first when there is not enough for all nodes.
enum class PlacementPolicy : std::uint8_t {
  kSpread,  ///< The node with the largest free share of its capacity, which balances load.
  kPack,    ///< The node with the least free capacity, so that as few nodes as possible are busy.
  kNear,    ///< The node nearest to the trainer, which reduces traffic; for equals as kSpread.
};

inline constexpr EnumName<PlacementPolicy> kPlacementNames[] = {
    {"spread", PlacementPolicy::kSpread},
    {"pack", PlacementPolicy::kPack},
    {"near", PlacementPolicy::kNear}};

/// The policy with this name; kInvalid lists the names.
Result<PlacementPolicy> placement_policy_of(std::string_view name);

/// A node's capacity in units of what is placed: splits to lease, or actors of a stage.
struct NodeCapacity {
  std::uint64_t node = 0;  ///< Incarnation.
  std::uint64_t capacity = 0;
  std::uint64_t used = 0;
  Distance distance = Distance::kElsewhere;

  std::uint64_t free() const { return used < capacity ? capacity - used : 0; }
};

struct Share {
  std::uint64_t node = 0;
  std::uint64_t count = 0;
  bool operator==(const Share&) const = default;
};

/// Distributes `count` units over `capacities`; no node gets more than it has free, and units that
/// do not fit are left over. Pure: ties go to the lowest incarnation.
std::vector<Share> share_out(PlacementPolicy policy, std::span<const NodeCapacity> capacities,
                             std::uint64_t count);
/// Distributes the waiting splits of `leases` over the members that may be leased splits.
std::vector<Share> share_out(PlacementPolicy policy, const Members& members,
                             const LeaseTable& leases);

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
