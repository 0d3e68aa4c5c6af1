#include "tuner/guard.h"

#include <random>
#include <string>

#include "tests/tuner/late_pipeline.h"
#include "tuner/allocation.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

PipelineDescription line(std::vector<std::uint64_t> bytes_per_actor, std::uint64_t item = 0,
                         std::uint64_t fixed = 0) {
  PipelineDescription description{
      .max_prefetch = 64, .prefetch_item_bytes = item, .fixed_bytes = fixed};
  for (const std::uint64_t bytes : bytes_per_actor) {
    description.stages.push_back({.name = "s" + std::to_string(description.stages.size()),
                                  .max_actors = 128,
                                  .bytes_per_actor = bytes});
  }
  return description;
}

CurrentState current(std::vector<std::uint32_t> actors, std::uint64_t memory,
                     std::uint32_t prefetch = 1) {
  CurrentState now;
  now.limits.memory_bytes = memory;
  now.leaving.assign(actors.size(), 0);
  now.actors = std::move(actors);
  now.prefetch = prefetch;
  return now;
}

}  // namespace

TEST_CASE("a legal proposal passes the guard unchanged", "[tuner][guard]") {
  Guard guard(line({10, 20}, 5, 100));
  const CurrentState now = current({1, 1}, 200);
  // 100 + 2 * 10 + 3 * 20 + 4 * 5 = 200.
  const Verdict verdict = guard.admit({{2, 3}, 4}, now);
  CHECK(verdict.goal == Allocation{{2, 3}, 4});
  CHECK(verdict.changes.empty());
  CHECK(guard.step(now) == Allocation{{2, 3}, 4});
}

TEST_CASE("prefetch is cut before actors", "[tuner][guard]") {
  Guard guard(line({10, 20}, 5, 100));
  const Verdict verdict = guard.admit({{2, 3}, 20}, current({1, 1}, 200));
  CHECK(verdict.goal == Allocation{{2, 3}, 4});  // 200 - 180 = 4 * 5
  REQUIRE(verdict.changes.size() == 1);
  CHECK(verdict.changes[0] == "prefetch 20 -> 4: memory");
}

TEST_CASE("actors are cut in proportion, then the remaining memory is used", "[tuner][guard]") {
  Guard guard(line({10, 10, 1}));
  // Wanted 80 * 10 + 20 * 10 + 10 = 1010; half of it: 40, 10, 5 take 505 of the 515. With the rest
  // the third stage, furthest behind at equal shares when 10 no longer fit, gets its five.
  const Verdict verdict = guard.admit({{80, 20, 10}, 1}, current({1, 1, 1}, 510));
  CHECK(verdict.goal == Allocation{{40, 10, 10}, 1});
}

TEST_CASE("one actor a stage and one item stay even where they do not fit", "[tuner][guard]") {
  Guard guard(line({100, 100}, 50, 100));
  CHECK(guard.admit({{7, 7}, 9}, current({3, 3}, 10, 9)).goal == Allocation{{1, 1}, 1});
  CHECK(guard.step(current({3, 3}, 10, 9)) == Allocation{{1, 1}, 1});
}

TEST_CASE("a proposal of wrong sizes or zeros becomes a legal one", "[tuner][guard]") {
  Guard guard(line({1, 1, 1}));
  const Verdict verdict = guard.admit({{0, 500}, 0}, current({1, 1, 1}, 1000));
  CHECK(verdict.goal == Allocation{{1, 128, 1}, 1});
  CHECK(verdict.changes[0] == "actors of 2 stages for 3");
}

TEST_CASE("a stage that may join has no actors where none are wanted", "[tuner][guard]") {
  PipelineDescription description = line({10, 10, 10});
  description.stages[1].least_actors = 0;
  Guard guard(description);
  const CurrentState joined = current({4, 0, 1}, 1000);
  CHECK(guard.admit({{4, 0, 0}, 1}, joined).goal == Allocation{{4, 0, 1}, 1});
  CHECK(guard.step(joined) == Allocation{{4, 0, 1}, 1});

  // A cut: one actor of 10 bytes goes at once, two more come where 60 bytes are enough for six.
  CHECK(guard.admit({{3, 2, 1}, 1}, joined).goal == Allocation{{3, 2, 1}, 1});
  CHECK(guard.step(current({4, 0, 1}, 60)) == Allocation{{3, 1, 1}, 1});
  CHECK(guard.step(current({3, 1, 1}, 60)) == Allocation{{3, 2, 1}, 1});

  // Half of the memory: the actors are cut in proportion, and no cut is undone for it.
  CHECK(guard.admit({{4, 4, 0}, 1}, current({1, 1, 1}, 50)).goal == Allocation{{2, 2, 1}, 1});
  CHECK(guard.admit({{40, 0, 4}, 1}, current({4, 0, 1}, 50)).goal == Allocation{{4, 0, 1}, 1});
}

TEST_CASE("all stages together keep to max_actors, leavers counted", "[tuner][guard]") {
  PipelineDescription description = line({1, 1});
  description.max_actors = 10;
  Guard guard(description);
  CurrentState now = current({8, 2}, 1000);
  CHECK(guard.admit({{20, 20}, 1}, now).goal == Allocation{{5, 5}, 1});
  CHECK(guard.step(now) == Allocation{{5, 2}, 1});  // 8 + 2 are alive: no actor may start yet
  now.actors = {5, 2};
  now.leaving = {1, 0};
  CHECK(guard.step(now) == Allocation{{5, 4}, 1});  // 5 + 1 + 4 = 10
}

TEST_CASE("a stage that grows waits for the memory of actors that are leaving", "[tuner][guard]") {
  Guard guard(line({10, 10}));
  CurrentState now = current({9, 1}, 100);
  guard.admit({{1, 9}, 1}, now);
  CHECK(guard.step(now) == Allocation{{1, 1}, 1});
  now.actors = {1, 1};
  now.leaving = {3, 0};
  CHECK(guard.step(now) == Allocation{{1, 6}, 1});  // (1 + 3 + 6) * 10 = 100
}

TEST_CASE("items prefetched under an earlier bound count until they are used", "[tuner][guard]") {
  Guard guard(line({10}, 10));
  CurrentState now = current({1}, 100, 9);
  now.prefetched = 9;
  guard.admit({{9}, 1}, now);
  CHECK(guard.step(now) == Allocation{{1}, 1});
  now.prefetch = 1;
  now.prefetched = 4;
  CHECK(guard.step(now) == Allocation{{6}, 1});  // 6 * 10 + 4 * 10
}

TEST_CASE("resident memory beyond the accounted memory is subtracted from the limit",
          "[tuner][guard]") {
  Guard guard(line({10}));
  CurrentState now = current({1}, 100);
  now.memory_bytes = 10;
  now.resident_bytes = 45;  // 35 beyond: 65 are left
  CHECK(guard.admit({{9}, 1}, now).goal.actors[0] == 6);
}

TEST_CASE("an actor that calls a user's function counts with the most that such actors took",
          "[tuner][guard]") {
  PipelineDescription description = line({10, 10}, 0, 100);
  description.stages[1].calls_user_code = true;
  Guard guard(description);
  CurrentState now = current({1, 1}, 1000);
  now.memory_bytes = now.process_bytes = now.resident_bytes = 120;
  guard.learn(now);
  CHECK(guard.admit({{1, 9}, 1}, now).goal == Allocation{{1, 9}, 1});
  now.process_bytes = now.resident_bytes = 320;  // During a call of one of two actors.
  now.leaving = {0, 1};
  guard.learn(now);
  now.process_bytes = now.resident_bytes = 120;  // The call has ended.
  now.leaving = {0, 0};
  guard.learn(now);
  // 100 + 10 + 8 * (10 + 100) = 990.
  const Verdict verdict = guard.admit({{1, 9}, 1}, now);
  CHECK(verdict.goal == Allocation{{1, 8}, 1});
  REQUIRE(verdict.changes.size() == 1);
  CHECK(verdict.changes[0] == "s1 9 -> 8: memory");
  CHECK(guard.step(now) == Allocation{{1, 8}, 1});
  // What eight actors keep is counted once.
  now.actors = {1, 8};
  now.memory_bytes = 190;
  now.process_bytes = now.resident_bytes = 190 + 800;
  CHECK(guard.step(now) == Allocation{{1, 8}, 1});
}

TEST_CASE("memory beyond the account is no function's where none is called", "[tuner][guard]") {
  Guard guard(line({10}, 0, 100));
  CurrentState now = current({1}, 1000);
  now.memory_bytes = 110;
  now.process_bytes = now.resident_bytes = 510;
  guard.learn(now);
  now.process_bytes = now.resident_bytes = 110;
  CHECK(guard.admit({{90}, 1}, now).goal == Allocation{{90}, 1});
}

TEST_CASE("from nine tenths of the limit on no stage gets another actor, for any account",
          "[tuner][guard]") {
  Guard guard(line({10, 10}, 10));
  CurrentState now = current({2, 4}, 1000, 3);
  now.process_bytes = 899;
  CHECK(guard.admit({{3, 3}, 5}, now).goal == Allocation{{3, 3}, 5});
  CHECK(guard.step(now) == Allocation{{3, 3}, 5});
  // An earlier goal is no longer approached upwards, only where it has fewer actors.
  now.process_bytes = 900;
  CHECK(guard.step(now) == Allocation{{2, 3}, 5});
  const Verdict verdict = guard.admit({{8, 3}, 5}, now);
  CHECK(verdict.goal == Allocation{{2, 3}, 5});
  REQUIRE(verdict.changes.size() == 1);
  CHECK(verdict.changes[0] == "s0 8 -> 2: nine tenths of the memory are taken");
  CHECK(guard.step(now) == Allocation{{2, 3}, 5});
  // An actor that leaves is not replaced.
  now.actors = {1, 3};
  now.leaving = {1, 0};
  CHECK(guard.step(now) == Allocation{{1, 3}, 5});
  now.process_bytes = 100;
  CHECK(guard.step(now) == Allocation{{2, 3}, 5});
  CHECK(guard.admit({{8, 3}, 5}, now).goal == Allocation{{8, 3}, 5});
}

TEST_CASE("a lowered limit is obeyed at the next step, and the goal stands when it rises again",
          "[tuner][guard]") {
  Guard guard(line({10, 10}, 10));
  guard.admit({{8, 8}, 4}, current({8, 8}, 200, 4));
  // 90 bytes: one item, and of 8 actors 4 and 4 would need 80 + 10.
  CHECK(guard.step(current({8, 8}, 90, 4)) == Allocation{{4, 4}, 1});
  CHECK(guard.step(current({4, 4}, 200, 1)) == Allocation{{8, 8}, 4});
}

TEST_CASE("the current prefetch is not cut because of actors that are leaving", "[tuner][guard]") {
  Guard guard(line({10}, 10));
  CurrentState now = current({2}, 100, 4);
  guard.admit({{2}, 6}, now);
  now.leaving = {6};  // 20 + 60 + 40 bytes are alive
  CHECK(guard.step(now) == Allocation{{2}, 4});
}

TEST_CASE("under a lowered limit actors make way for items that wait until these are used",
          "[tuner][guard]") {
  Guard guard(line({10, 10}, 10));
  guard.admit({{4, 4}, 12}, current({4, 4}, 200, 12));
  CurrentState now = current({4, 4}, 100, 12);
  now.prefetched = 6;
  // The goal fits without the waiting items: 4 and 4 actors and 2 items. With 6 items there is
  // memory for 4 actors.
  CHECK(guard.step(now) == Allocation{{2, 2}, 2});
  now.actors = {2, 2};
  now.prefetch = 2;
  now.prefetched = 3;
  now.leaving = {1, 0};
  CHECK(guard.step(now).total_actors() == 6);  // 4 and the one that leaves, 3 items, 2 to come
  now.leaving = {0, 0};
  now.prefetched = 20;
  CHECK(guard.step(now) == Allocation{{1, 1}, 2});
}

TEST_CASE("where memory becomes free slowly, stages furthest from their goal grow first",
          "[tuner][guard]") {
  Guard guard(line({10, 10, 10}));
  CurrentState now = current({4, 1, 17}, 240);
  guard.admit({{6, 16, 1}, 1}, now);
  now.actors = {4, 1, 1};
  now.leaving = {0, 0, 10};
  // 24 fit, 16 are alive: 8 places, all for the second stage (1 of 16) until it has 4/6 of its
  // goal.
  CHECK(guard.step(now) == Allocation{{4, 9, 1}, 1});
}

TEST_CASE("no sequence of proposals gets past the guard, and it gets to every goal",
          "[tuner][guard]") {
  const std::uint64_t seed = GENERATE(range(1, 201));
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  const auto wild = [&] {
    return below(4) == 0 ? static_cast<std::uint32_t>(random())
                         : static_cast<std::uint32_t>(below(40));
  };

  std::vector<std::uint64_t> bytes(1 + below(9));
  for (std::uint64_t& each : bytes) each = below(1000);
  PipelineDescription description = line(bytes, below(300), below(5000));
  for (StageDescription& stage : description.stages)
    stage.max_actors = static_cast<std::uint32_t>(1 + below(130));
  if (below(2) == 0) description.max_actors = static_cast<std::uint32_t>(bytes.size() + below(100));
  Allocation least = one_each(description);
  const std::uint64_t floor = worst_case_bytes(description, least);
  const auto any_limit = [&] { return Limits{.memory_bytes = floor + 500 + below(20000)}; };

  LatePipeline tuned_pipeline(description, any_limit(), least);
  Guard guard(description);
  guard.admit(least, tuned_pipeline.current());
  std::uint64_t allowed =
      tuned_pipeline.worst_case();  // falls with a lowered limit only as actors leave
  for (int round = 0; round < 200; ++round) {
    if (below(3) == 0) {
      Allocation proposal;
      proposal.actors.resize(below(8) == 0 ? below(12) : bytes.size());
      for (std::uint32_t& count : proposal.actors) count = wild();
      proposal.prefetch = wild();
      const Verdict verdict = guard.admit(proposal, tuned_pipeline.current());
      REQUIRE(shaped(description, verdict.goal) == verdict.goal);
    }
    if (below(10) == 0) tuned_pipeline.set_limits(any_limit());
    if (below(10) == 0) tuned_pipeline.beyond = below(500);
    const std::uint64_t before = tuned_pipeline.worst_case();
    tuned_pipeline.apply(guard.step(tuned_pipeline.current()));
    REQUIRE(shaped(description, tuned_pipeline.wanted()) == tuned_pipeline.wanted());
    // Within the limit, or the step made it no worse while actors are still leaving.
    allowed = std::max(before, tuned_pipeline.current().limits.memory_bytes);
    REQUIRE(tuned_pipeline.worst_case() <= allowed);
    // The remaining actors fit without waiting for the trainer to free memory.
    const bool fewest = tuned_pipeline.wanted().total_actors() == bytes.size();
    REQUIRE((fewest || tuned_pipeline.worst_case_without_leavers() <=
                           tuned_pipeline.current().limits.memory_bytes));
    std::uint32_t total = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      REQUIRE(tuned_pipeline.alive(i) <= description.stages[i].max_actors);
      total += tuned_pipeline.alive(i);
    }
    if (description.max_actors != 0) REQUIRE(total <= description.max_actors);
    tuned_pipeline.prefetch_all();
    tuned_pipeline.leave(random);
  }

  tuned_pipeline.all_leave();
  tuned_pipeline.set_limits({.memory_bytes = floor + 40000});
  tuned_pipeline.beyond = 0;
  const Verdict last =
      guard.admit({std::vector<std::uint32_t>(bytes.size(), 12), 7}, tuned_pipeline.current());
  for (int round = 0; round < 3; ++round) {
    tuned_pipeline.apply(guard.step(tuned_pipeline.current()));
    tuned_pipeline.all_leave();
  }
  CHECK(tuned_pipeline.wanted() == last.goal);
}

}  // namespace forebay::tuner
