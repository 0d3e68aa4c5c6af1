#include "scheduler/placement.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace forebay::scheduler {
namespace {

/// Whether `a` has a larger free share than `b`, in whole numbers.
bool freer(const NodeCapacity& a, const NodeCapacity& b) {
  const auto left = a.free() * b.capacity;
  const auto right = b.free() * a.capacity;
  return left != right ? left > right : a.node < b.node;
}

std::vector<Share> fill_in_order(std::span<const NodeCapacity> rooms, std::uint64_t count) {
  std::vector<Share> shares;
  shares.reserve(rooms.size());
  for (const NodeCapacity& room : rooms) {
    const std::uint64_t given = std::min(room.free(), count);
    if (given == 0) continue;
    shares.push_back({room.node, given});
    count -= given;
  }
  return shares;
}

/// One at a time to the freest, by a heap that has it on top.
std::vector<Share> spread(std::vector<NodeCapacity> rooms, std::uint64_t count) {
  const auto below = [](const NodeCapacity& a, const NodeCapacity& b) { return freer(b, a); };
  const std::vector<NodeCapacity> before = rooms;
  std::vector<NodeCapacity> full;
  full.reserve(rooms.size());
  std::make_heap(rooms.begin(), rooms.end(), below);
  for (; count > 0 && !rooms.empty(); --count) {
    std::pop_heap(rooms.begin(), rooms.end(), below);
    ++rooms.back().used;
    if (rooms.back().free() > 0) {
      std::push_heap(rooms.begin(), rooms.end(), below);
    } else {
      full.push_back(rooms.back());
      rooms.pop_back();
    }
  }
  rooms.insert(rooms.end(), full.begin(), full.end());
  std::sort(rooms.begin(), rooms.end(), [](auto& a, auto& b) { return a.node < b.node; });
  std::vector<Share> shares;
  shares.reserve(rooms.size());
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    if (rooms[i].used > before[i].used)
      shares.push_back({rooms[i].node, rooms[i].used - before[i].used});
  }
  return shares;
}

std::vector<NodeCapacity> with_room(std::span<const NodeCapacity> rooms) {
  std::vector<NodeCapacity> open;
  open.reserve(rooms.size());
  std::copy_if(rooms.begin(), rooms.end(), std::back_inserter(open),
               [](const NodeCapacity& room) { return room.free() > 0; });
  std::sort(open.begin(), open.end(), [](auto& a, auto& b) { return a.node < b.node; });
  return open;
}

}  // namespace

Result<PlacementPolicy> placement_policy_of(std::string_view name) {
  if (name == "spread") return PlacementPolicy::kSpread;
  if (name == "pack") return PlacementPolicy::kPack;
  if (name == "near") return PlacementPolicy::kNear;
  return fail(Code::kInvalid, "no placement is called \"" + std::string(name) +
                                  "\"; there are spread, pack and near");
}

std::vector<Share> share_out(PlacementPolicy policy, std::span<const NodeCapacity> rooms,
                             std::uint64_t count) {
  std::vector<NodeCapacity> open = with_room(rooms);
  std::uint64_t free = 0;
  for (const NodeCapacity& room : open) free += room.free();
  if (free <= count) return fill_in_order(open, count);  // Enough for all of them.
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

}  // namespace forebay::scheduler
