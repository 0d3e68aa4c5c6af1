#include "actors/stage/fused_work.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

/// Three stages, of which the first two share two actors.
struct Fixture {
  FusedWork work{3};
  StageGroups groups{std::vector<bool>{true, false}};

  /// The statistics of pools of which the first has done all work.
  std::vector<StageStats> attributed() const {
    std::vector<StageStats> stages{{"load", {}}, {"decode", {}}, {"shuffle", {}}};
    PoolStats& load = stages[0].pool;
    load.actors = 2;
    load.totals.busy = 10s;
    load.totals.cpu = 9s;
    load.totals.wait_input = 6s;
    load.totals.messages = 1;
    load.each = {{.number = 0, .state = ActorState::kBusy, .since = 1s, .key = 7},
                 {.number = 1, .state = ActorState::kBusy, .since = 2s, .key = 8}};
    stages[2].pool.actors = 1;
    FusedWork::attribute(work.sums(), groups, stages);
    return stages;
  }
};

TEST_CASE("the work for a stage counts there, not where its actor lives", "[actors][fused_work]") {
  Fixture fixture;
  const Service decode{.time = 7s, .cpu = 6s, .ready = 500ms, .squared_seconds = 3, .actors = 2};
  fixture.work.add(0, 0, {{.service = {.time = 3s}}, {.service = decode, .bytes = 80}}, 5s);
  const auto stages = fixture.attributed();
  const ActorTotals& load = stages[0].pool.totals;
  CHECK(load.busy == 3s);
  CHECK(load.cpu == 3s);
  CHECK(load.wait_input == 13s);  // its own 6 s, and 7 s in which its actor decoded
  CHECK(load.messages == 1);
  const ActorTotals& to = stages[1].pool.totals;
  CHECK(to.busy == 7s);
  CHECK(to.cpu == 6s);
  CHECK(to.wait_input == 8s);  // 5 s without a split, 3 s of loading
  CHECK(to.messages == 1);
  CHECK(to.bytes == 80);
  CHECK(to.done == decode);
  CHECK(stages[2].pool.totals == ActorTotals());
}

TEST_CASE("the actors of a group are shown at each of its stages", "[actors][fused_work]") {
  const auto stages = Fixture().attributed();
  CHECK(stages[0].pool.actors == 2);
  CHECK(stages[1].pool.actors == 2);
  CHECK(stages[2].pool.actors == 1);
}

TEST_CASE("a working actor is shown at the stage of its work", "[actors][fused_work]") {
  Fixture fixture;
  fixture.work.enter(0, 0, 0, 1s);
  fixture.work.enter(0, 1, 1, 4s);
  auto stages = fixture.attributed();
  REQUIRE(stages[0].pool.each.size() == 1);
  CHECK(stages[0].pool.each[0].number == 0);
  REQUIRE(stages[1].pool.each.size() == 1);
  CHECK(stages[1].pool.each[0].key == 8);
  CHECK(stages[1].pool.each[0].since == 4s);
  fixture.work.leave(0, 1);
  stages = fixture.attributed();
  CHECK(stages[0].pool.each.size() == 2);
  CHECK(stages[1].pool.each.empty());
}

}  // namespace
}  // namespace forebay
