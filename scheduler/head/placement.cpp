#include "scheduler/head/placement.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace forebay::scheduler {
namespace {

/// Whether `a` has a larger free share than `b`; computed in integers.
bool freer(const NodeCapacity& a, const NodeCapacity& b) {
  const auto left = a.free() * b.capacity;
  const auto right = b.free() * a.capacity;
  return left != right ? left > right : a.node < b.node;
}

std::vector<Share> fill_in_order(std::span<const NodeCapacity> capacities, std::uint64_t count) {
  std::vector<Share> shares;
  shares.reserve(capacities.size());
  for (const NodeCapacity& capacity : capacities) {
    const std::uint64_t given = std::min(capacity.free(), count);
    if (given == 0) continue;
    shares.push_back({capacity.node, given});
    count -= given;
  }
  return shares;
}

/// Assigns one at a time to the node with the largest free share, using a heap.
std::vector<Share> spread(std::vector<NodeCapacity> capacities, std::uint64_t count) {
  const auto below = [](const NodeCapacity& a, const NodeCapacity& b) { return freer(b, a); };
  const std::vector<NodeCapacity> before = capacities;
  std::vector<NodeCapacity> full;
  full.reserve(capacities.size());
  std::make_heap(capacities.begin(), capacities.end(), below);
  for (; count > 0 && !capacities.empty(); --count) {
    std::pop_heap(capacities.begin(), capacities.end(), below);
    ++capacities.back().used;
    if (capacities.back().free() > 0) {
      std::push_heap(capacities.begin(), capacities.end(), below);
    } else {
      full.push_back(capacities.back());
      capacities.pop_back();
    }
  }
  capacities.insert(capacities.end(), full.begin(), full.end());
  std::sort(capacities.begin(), capacities.end(), [](auto& a, auto& b) { return a.node < b.node; });
  std::vector<Share> shares;
  shares.reserve(capacities.size());
  for (std::size_t i = 0; i < capacities.size(); ++i) {
    if (capacities[i].used > before[i].used)
      shares.push_back({capacities[i].node, capacities[i].used - before[i].used});
  }
  return shares;
}

std::vector<NodeCapacity> with_free_capacity(std::span<const NodeCapacity> capacities) {
  std::vector<NodeCapacity> open;
  open.reserve(capacities.size());
  std::copy_if(capacities.begin(), capacities.end(), std::back_inserter(open),
               [](const NodeCapacity& capacity) { return capacity.free() > 0; });
  std::sort(open.begin(), open.end(), [](auto& a, auto& b) { return a.node < b.node; });
  return open;
}

}  // namespace

Result<PlacementPolicy> placement_policy_of(std::string_view name) {
  if (const auto policy = value_in(kPlacementNames, name)) return *policy;
  return fail(Code::kInvalid, "no placement is called \"" + std::string(name) + "\"; there are " +
                                  list_names(kPlacementNames, ", "));
}

std::vector<Share> share_out(PlacementPolicy policy, std::span<const NodeCapacity> capacities,
                             std::uint64_t count) {
  std::vector<NodeCapacity> open = with_free_capacity(capacities);
  std::uint64_t free = 0;
  for (const NodeCapacity& capacity : open) free += capacity.free();
  if (free <= count) return fill_in_order(open, count);  // Every node gets all it has capacity for.
  if (policy == PlacementPolicy::kSpread) return spread(std::move(open), count);
  if (policy == PlacementPolicy::kPack) {
    std::stable_sort(open.begin(), open.end(), [](const NodeCapacity& a, const NodeCapacity& b) {
      return a.free() < b.free();
    });
  } else {
    std::stable_sort(open.begin(), open.end(), [](const NodeCapacity& a, const NodeCapacity& b) {
      return a.distance != b.distance ? a.distance < b.distance : freer(a, b);
    });
  }
  return fill_in_order(open, count);
}

std::vector<Share> share_out(PlacementPolicy policy, const Members& members,
                             const LeaseTable& leases, std::chrono::nanoseconds now) {
  std::vector<NodeCapacity> capacities;
  capacities.reserve(members.all().size());
  for (const auto& [incarnation, member] : members.all()) {
    if (!member.may_be_leased()) continue;
    capacities.push_back({.node = incarnation,
                          .capacity = std::min(member.node.capacity, member.allowance.most(now)),
                          .used = leases.num_leases(incarnation),
                          .distance = member.distance});
  }
  return share_out(policy, capacities, leases.num_waiting());
}

}  // namespace forebay::scheduler
