#include "actors/stage/fused_work.h"

#include <array>

#include "core/base/random.h"
#include "tests/actors/stage/growing_counters.h"
#include "tests/support/manual_clock.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

/// Three stages, of which the first two share two actors. Each actor is on a CPU for three quarters
/// of its time.
struct Fixture {
  test::ManualClock clock;
  FusedWork work{3, clock, [this](clockid_t) { return clock.now() * 3 / 4; }};
  StageGroups groups{std::vector<bool>{true, false}};
  /// Of the first stage.
  ActorTotals pool{.busy = 12s, .cpu = 9s, .wait_input = 6s, .messages = 1, .done = {}};

  void pass(std::chrono::nanoseconds time) { clock.advance(time); }

  /// Shows the counters, with the statistics of pools of which the first has done all work.
  std::vector<StageStats> attributed(const FusedWork::Sums& sums) const {
    std::vector<StageStats> stages{{"load", {}}, {"decode", {}}, {"shuffle", {}}};
    PoolStats& load = stages[0].pool;
    load.actors = 2;
    load.totals = pool;
    load.each = {{.number = 0, .state = ActorState::kBusy, .since = 1s, .key = 7},
                 {.number = 1, .state = ActorState::kBusy, .since = 2s, .key = 8}};
    stages[2].pool.actors = 1;
    work.attribute(sums, groups, stages);
    return stages;
  }
  std::vector<StageStats> attributed() const { return attributed(work.sums()); }
};

TEST_CASE("the work for a stage counts there, not where its actor lives", "[actors][fused_work]") {
  Fixture fixture;
  const Service decode{.time = 7s, .cpu = 6s, .ready = 500ms, .squared_seconds = 3, .actors = 2};
  fixture.work.begin({0, 0}, 2, 5s);
  fixture.pass(4s);
  fixture.work.enter({0, 0}, 1);
  fixture.pass(8s);
  fixture.work.finish({0, 0}, {{}, {.service = decode, .bytes = 80}});
  fixture.pass(1s);
  const auto stages = fixture.attributed();
  const ActorTotals& load = stages[0].pool.totals;
  CHECK(load.busy == 4s);
  CHECK(load.cpu == 3s);
  CHECK(load.wait_input == 14s);  // its own 6 s, and 8 s in which its actor decoded
  CHECK(load.messages == 1);
  const ActorTotals& to = stages[1].pool.totals;
  CHECK(to.busy == 8s);
  CHECK(to.cpu == 6s);
  CHECK(to.wait_input == 9s);  // 5 s without a split, 4 s of loading
  CHECK(to.messages == 1);
  CHECK(to.bytes == 80);
  CHECK(to.done == decode);
  CHECK(stages[2].pool.totals == ActorTotals());
}

TEST_CASE("unfinished and failed work counts for the stage that it is in", "[actors][fused_work]") {
  Fixture fixture;
  fixture.work.begin({0, 0}, 2, 0s);
  fixture.pass(4s);
  fixture.work.enter({0, 0}, 1);
  fixture.pass(8s);
  const auto check = [&] {
    const auto stages = fixture.attributed();
    CHECK(stages[0].pool.totals.busy == 4s);
    CHECK(stages[0].pool.totals.cpu == 3s);
    CHECK(stages[1].pool.totals.busy == 8s);
    CHECK(stages[1].pool.totals.cpu == 6s);
    CHECK(stages[1].pool.totals.wait_input == 4s);
    CHECK(stages[1].pool.totals.messages == 0);
  };
  check();
  fixture.work.leave({0, 0});
  fixture.work.leave({0, 0});
  fixture.pass(8s);
  check();
}

TEST_CASE("no counter of a stage ever falls", "[actors][fused_work]") {
  Fixture fixture;
  fixture.pool = {};
  Random random(5);
  struct Actor {
    std::size_t stage = 2;  // none
  };
  std::array<Actor, 2> actors;
  const auto pass = [&](std::uint64_t most_ms) {
    const auto time = std::chrono::milliseconds(random.below(most_ms));
    fixture.pass(time);
    for (const Actor& actor : actors) {
      (actor.stage < 2 ? fixture.pool.busy : fixture.pool.wait_input) += time;
      if (actor.stage < 2) fixture.pool.cpu += time * 3 / 4;
    }
  };
  std::vector<StageStats> before = fixture.attributed();
  for (int i = 0; i < 2000; ++i) {
    const auto number = static_cast<std::uint32_t>(random.below(2));
    Actor& actor = actors[number];
    if (actor.stage == 2) {
      fixture.work.begin({0, number}, 2, std::chrono::milliseconds(random.below(9)));
      actor.stage = 0;
    } else if (actor.stage == 0) {
      fixture.work.enter({0, number}, 1);
      actor.stage = 1;
    } else if (random.below(4) > 0) {
      fixture.work.finish({0, number}, {{}, {.service = {.time = 1ms}}});
      actor.stage = 2;
    } else {
      fixture.work.leave({0, number});
      actor.stage = 2;
    }
    pass(50);
    const FusedWork::Sums sums = fixture.work.sums();
    pass(5);  // The pools are read a little later.
    const auto now = fixture.attributed(sums);
    test::require_growing(before, now);
    // Not more than the actors worked, but for what a pool was read too late.
    const auto busy = now[0].pool.totals.busy + now[1].pool.totals.busy;
    REQUIRE(busy >= fixture.pool.busy - 20ms);
    REQUIRE(busy <= fixture.pool.busy + 20ms);
    before = now;
  }
}

TEST_CASE("the actors of a group are shown at each of its stages", "[actors][fused_work]") {
  const auto stages = Fixture().attributed();
  CHECK(stages[0].pool.actors == 2);
  CHECK(stages[1].pool.actors == 2);
  CHECK(stages[2].pool.actors == 1);
}

TEST_CASE("a working actor is shown at the stage of its work", "[actors][fused_work]") {
  Fixture fixture;
  fixture.pass(1s);
  fixture.work.begin({0, 0}, 2, 0s);
  fixture.work.begin({0, 1}, 2, 0s);
  fixture.pass(3s);
  fixture.work.enter({0, 1}, 1);
  auto stages = fixture.attributed();
  REQUIRE(stages[0].pool.each.size() == 1);
  CHECK(stages[0].pool.each[0].number == 0);
  REQUIRE(stages[1].pool.each.size() == 1);
  CHECK(stages[1].pool.each[0].key == 8);
  CHECK(stages[1].pool.each[0].since == 4s);
  fixture.work.leave({0, 1});
  stages = fixture.attributed();
  CHECK(stages[0].pool.each.size() == 2);
  CHECK(stages[1].pool.each.empty());
}

}  // namespace
}  // namespace forebay
