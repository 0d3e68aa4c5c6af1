#include "scheduler/head/placement.h"

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

using Shares = std::vector<Share>;

TEST_CASE("with enough splits for all, every node fills its capacity", "[scheduler]") {
  const std::vector<NodeCapacity> capacities = {{1, 4, 1}, {2, 2, 2}, {3, 5, 0}};
  for (const auto policy :
       {PlacementPolicy::kSpread, PlacementPolicy::kPack, PlacementPolicy::kNear}) {
    CHECK(share_out(policy, capacities, 100) == Shares{{1, 3}, {3, 5}});
    CHECK(share_out(policy, capacities, 8) == Shares{{1, 3}, {3, 5}});
    CHECK(share_out(policy, capacities, 0).empty());
  }
}

TEST_CASE("spread picks the largest free share, not the most free slots", "[scheduler]") {
  // Node 1 has 3 of 4 free, node 2 has 6 of 12: 0.75 against 0.5, though 6 > 3. After one, node 1
  // has 2/4 = 0.5: a tie, and the lower number wins; then 1/4 against 6/12, 5/12, …
  const std::vector<NodeCapacity> capacities = {{1, 4, 1}, {2, 12, 6}};
  CHECK(share_out(PlacementPolicy::kSpread, capacities, 1) == Shares{{1, 1}});
  CHECK(share_out(PlacementPolicy::kSpread, capacities, 2) == Shares{{1, 2}});
  CHECK(share_out(PlacementPolicy::kSpread, capacities, 4) == Shares{{1, 2}, {2, 2}});
}

TEST_CASE("spread over equal nodes is even", "[scheduler]") {
  const std::vector<NodeCapacity> capacities = {{5, 8, 0}, {6, 8, 0}, {7, 8, 0}};
  CHECK(share_out(PlacementPolicy::kSpread, capacities, 9) == Shares{{5, 3}, {6, 3}, {7, 3}});
}

TEST_CASE("pack fills the nodes with the fewest free slots first", "[scheduler]") {
  const std::vector<NodeCapacity> capacities = {{1, 8, 0}, {2, 8, 6}, {3, 8, 4}};
  CHECK(share_out(PlacementPolicy::kPack, capacities, 5) == Shares{{2, 2}, {3, 3}});
}

TEST_CASE("near fills the trainer's process, then its host, then the freest elsewhere",
          "[scheduler]") {
  const std::vector<NodeCapacity> capacities = {{1, 4, 2, Distance::kElsewhere},
                                                {2, 4, 0, Distance::kElsewhere},
                                                {3, 4, 2, Distance::kSameHost},
                                                {4, 4, 3, Distance::kSameProcess}};
  CHECK(share_out(PlacementPolicy::kNear, capacities, 5) == Shares{{4, 1}, {3, 2}, {2, 2}});
}

TEST_CASE("a placement is called by its name", "[scheduler]") {
  CHECK(placement_policy_of("pack").value() == PlacementPolicy::kPack);
  CHECK_FALSE(placement_policy_of("Pack"));
}

TEST_CASE("waiting splits go to the members that may be leased some", "[scheduler]") {
  Members members;
  for (const std::uint64_t incarnation : {1, 2, 3, 4}) {
    members.all()[incarnation].node.state = NodeStatus::State::kPrepared;
    members.all()[incarnation].node.capacity = 8;
  }
  members.all()[2].blocked = true;
  members.all()[3].gone = true;
  members.all()[4].node.state = NodeStatus::State::kJoined;
  LeaseTable leases(std::chrono::seconds(5));
  for (std::uint64_t split = 0; split < 6; ++split) leases.issue(split);
  leases.lease(1, 2, {});
  CHECK(share_out(PlacementPolicy::kSpread, members, leases, std::chrono::nanoseconds(0)) ==
        Shares{{1, 4}});
  members.all()[2].blocked = false;
  CHECK(share_out(PlacementPolicy::kSpread, members, leases, std::chrono::nanoseconds(0)) ==
        Shares{{1, 1}, {2, 3}});
}

}  // namespace
}  // namespace forebay::scheduler
