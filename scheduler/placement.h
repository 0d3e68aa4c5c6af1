#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "scheduler/cluster_view.h"

namespace forebay::scheduler {

/// Which nodes get work first when there is not enough for all.
enum class PlacementPolicy : std::uint8_t {
  kSpread,  ///< Whoever has the largest share of its room free, so that load stays even.
  kPack,    ///< Whoever has the least room free, so that as few nodes as can be are busy.
  kNear,    ///< Whoever is nearest to the trainer, so that few bytes travel; then as spread.
};

/// `spread`, `pack` or `near`.
Result<PlacementPolicy> placement_policy_of(std::string_view name);

/// A node's room, in whatever is placed: splits to lease, actors of a stage.
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

/// Shares `count` things out over `capacities`, no node getting more than it has free. What does
/// not fit is left. Pure: ties go to the lowest incarnation.
std::vector<Share> share_out(PlacementPolicy policy, std::span<const NodeCapacity> capacities,
                             std::uint64_t count);

}  // namespace forebay::scheduler
