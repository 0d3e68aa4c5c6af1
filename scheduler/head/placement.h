#pragma once

#include <chrono>
#include <cstdint>
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
                             const LeaseTable& leases, std::chrono::nanoseconds now);

}  // namespace forebay::scheduler
