#include "scheduler/head/straggler.h"

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

using namespace std::chrono_literals;

TEST_CASE("the usual time of a split is the median, known after eight splits", "[scheduler]") {
  UsualTime usual;
  const StragglerRule rule{.times_usual = 4, .at_least = 500ms};
  for (int i = 0; i < 7; ++i) usual.saw(100ms * (i + 1));
  CHECK_FALSE(rule.patience(usual));
  usual.saw(10s);  // 100 … 700 ms and this: the fifth of eight is 500 ms, four times that 2 s.
  CHECK(rule.patience(usual) == std::optional<std::chrono::nanoseconds>(2s));
  for (int i = 0; i < 64; ++i) usual.saw(20ms);
  CHECK(rule.patience(usual) == std::optional<std::chrono::nanoseconds>(500ms));
}

/// Split 0 is leased to member 1 since 0 s; a split usually takes 1 s, so it is late after 4 s.
struct LateFixture {
  StragglerRule rule{.times_usual = 4, .at_least = 500ms};
  UsualTime usual;
  LeaseTable leases{60s};
  Members members;

  LateFixture() {
    for (int i = 0; i < 8; ++i) usual.saw(1s);
    leases.issue(0);
    leases.lease(1, 1, 0s);
    for (const std::uint64_t incarnation : {1, 2, 3}) {
      Member& member = members.all()[incarnation];
      member.node.incarnation = incarnation;
      member.node.state = NodeStatus::State::kPrepared;
      member.node.capacity = 1;
      member.node.rate = static_cast<double>(10 * incarnation);
    }
  }
  /// The member that is to make split 0, too; 0: none.
  std::uint64_t other(std::chrono::nanoseconds now) const {
    const auto second = second_lease(rule, usual, leases, members, now);
    if (second) CHECK((second->split == 0 && second->late == 1));
    return second ? second->other : 0;
  }
};

TEST_CASE_METHOD(LateFixture, "a late split goes to the fastest other member", "[scheduler]") {
  CHECK(other(4s) == 0);
  CHECK(other(5s) == 3);
  members.all()[3].blocked = true;
  CHECK(other(5s) == 2);
  members.all()[2].node.capacity = 0;
  CHECK(other(5s) == 0);
}

TEST_CASE_METHOD(LateFixture, "a member may have one split above its capacity for it",
                 "[scheduler]") {
  for (std::uint64_t split = 1; split < 4; ++split) leases.issue(split);
  leases.lease(3, 1, 4s);
  CHECK(other(5s) == 3);
  leases.lease(3, 1, 4s);
  CHECK(other(5s) == 2);
}

TEST_CASE_METHOD(LateFixture, "a split with two holders or none is not leased again",
                 "[scheduler]") {
  REQUIRE(leases.lease_again(2, 0, 4s));
  CHECK(other(5s) == 0);
  leases.lose(1);
  leases.lose(2);
  CHECK(other(5s) == 0);
}

TEST_CASE_METHOD(LateFixture, "others idle if one of them has no split and none waits",
                 "[scheduler]") {
  CHECK(others_idle(1, leases, members));
  leases.issue(1);
  CHECK_FALSE(others_idle(1, leases, members));  // it may be leased at once
  leases.lease(2, 1, 0s);
  CHECK(others_idle(1, leases, members));  // member 3
  members.all()[3].node.capacity = 0;
  CHECK_FALSE(others_idle(1, leases, members));
}

TEST_CASE_METHOD(LateFixture, "the lowest split is waited for since it became the lowest",
                 "[scheduler]") {
  leases.issue(1);
  LowestWatch lowest;
  lowest.look(leases, 1s);
  lowest.look(leases, 2s);
  CHECK(lowest.waited_for(0, 4s) == std::optional<std::chrono::nanoseconds>(3s));
  CHECK_FALSE(lowest.waited_for(1, 4s));
  leases.arrived(0, 4s);
  lowest.look(leases, 4s);
  CHECK(lowest.waited_for(1, 5s) == std::optional<std::chrono::nanoseconds>(1s));
}

TEST_CASE("a late member may hold half as many, then none for a rest that doubles", "[scheduler]") {
  LeaseAllowance allowance;
  CHECK(allowance.most(0s) == LeaseAllowance::kUnlimited);
  allowance.late(7, 1s);
  CHECK(allowance.most(1s) == 3);
  allowance.late(2, 1s);
  CHECK(allowance.most(1s) == 1);
  allowance.late(0, 1s);
  CHECK(allowance.most(1s) == 0);
  allowance.late(0, 2s);  // leased before the rest
  CHECK(allowance.most(6s - 1ns) == 0);
  CHECK(allowance.most(6s) == 1);
  allowance.late(0, 7s);
  CHECK(allowance.most(17s - 1ns) == 0);
  CHECK(allowance.most(17s) == 1);
}

TEST_CASE("four splits in time let a member hold one more, until it has no limit", "[scheduler]") {
  LeaseAllowance allowance;
  allowance.late(5, 1s);
  for (int i = 0; i < 3; ++i) allowance.in_time();
  CHECK(allowance.most(2s) == 2);
  allowance.in_time();
  CHECK(allowance.most(2s) == 3);
  for (int i = 0; i < 4 * 61; ++i) allowance.in_time();
  CHECK(allowance.most(2s) == LeaseAllowance::kUnlimited);
}

}  // namespace
}  // namespace forebay::scheduler
