#include "tuner/model/settling.h"

#include <algorithm>

#include "tuner/model/stage_estimate.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

// Actors that work all of an interval of 2 s, in which `done` splits of `seconds` each end; these
// began among `began` actors.
StageObservation long_splits(std::uint32_t actors, std::uint64_t done, double seconds,
                             double began) {
  StageObservation seen;
  const auto splits = static_cast<double>(done);
  seen.actors = actors;
  seen.actor_seconds = seen.working_seconds = 2.0 * actors;
  seen.done = done;
  seen.done_seconds = seen.done_cpu_seconds = splits * seconds;
  seen.done_seconds_squared = splits * seconds * seconds * 1.25;
  seen.done_actors = splits * began;
  return seen;
}

TEST_CASE("settling lasts until as many splits have ended as are under way", "[tuner][model]") {
  Settling settling;
  CHECK_FALSE(settling.lasts());
  settling.begin(2, 3);
  settling.add(10, 4, 6);
  CHECK(settling.lasts());
  settling.add(10, 3, 9);
  CHECK(settling.lasts());  // 9 of 10
  settling.add(10, 1, 9);
  CHECK_FALSE(settling.lasts());
}

TEST_CASE("the last splits count twice as much as those before", "[tuner][model]") {
  Settling settling;
  settling.begin(2, 3);
  settling.add(10, 4, 6);
  CHECK(settling.splits() == 5);
  CHECK(settling.seconds() == Approx((0.5 * 2 * 3 + 4 * 6) / 5));
}

TEST_CASE("settling that begins without a split takes its time from the first", "[tuner][model]") {
  Settling settling;
  settling.begin(0, 0);
  settling.add(10, 1, 7);
  CHECK(settling.seconds() == 7);
  settling.begin(1, 2);  // another change: nothing of before is left
  CHECK(settling.seconds() == 2);
  CHECK(settling.splits() == 1);
}

TEST_CASE("the short splits that end first make no contention of the long ones", "[tuner][model]") {
  StageEstimate stage;
  const double times[] = {3, 4, 5, 6, 7, 8, 9, 10, 10, 10};
  // Of 40 actors' splits the short ones end first, and they began while actors were being added.
  double began = 20;
  for (const double seconds : times) {
    stage.observe(long_splits(40, 8, seconds, began), 2);
    began = std::min(40.0, began + 4);
  }
  CHECK(stage.mean().seconds_with(40) == Approx(10).epsilon(0.3));
  CHECK(stage.mean().slow(40) < 1.5);
}

TEST_CASE("first splits that end within an interval tell of contention at once", "[tuner][model]") {
  StageEstimate stage;
  stage.observe(long_splits(1, 1, 1.5, 1), 2);
  for (int i = 0; i < 3; ++i) stage.observe(long_splits(9, 6, 3, 9), 2);
  CHECK(stage.mean().slow(9) > 1.15);
}

TEST_CASE("no split where many were to end is a change of the work before the first ends",
          "[tuner][model]") {
  StageEstimate stage;
  for (int i = 0; i < 10; ++i) stage.observe(long_splits(20, 80, 0.5, 20), 2);
  stage.observe(long_splits(20, 0, 0, 0), 2);
  CHECK(stage.changed());
  CHECK(stage.mean().seconds_with(20) == Approx(1.2 * 2));
  stage.observe(long_splits(60, 0, 0, 0), 2);
  CHECK_FALSE(stage.changed());  // it is the same change
  CHECK(stage.mean().seconds_with(60) > 4);
}

TEST_CASE("splits that take a little longer than usual have not grown", "[tuner][model]") {
  StageEstimate stage;
  for (int i = 0; i < 10; ++i) stage.observe(long_splits(20, 26, 1.5, 20), 2);
  stage.observe(long_splits(20, 0, 0, 0), 2);
  CHECK_FALSE(stage.changed());
}

TEST_CASE("one actor without a split for a while is chance", "[tuner][model]") {
  StageEstimate stage;
  for (int i = 0; i < 10; ++i) stage.observe(long_splits(1, 2, 1, 1), 2);
  stage.observe(long_splits(1, 0, 0, 0), 2);
  CHECK_FALSE(stage.changed());
}

TEST_CASE("what waits for a limit has not grown", "[tuner][model]") {
  StageEstimate stage;
  StageObservation alone = long_splits(1, 4, 0.5, 1);
  stage.observe(alone, 2);
  StageObservation limited = long_splits(20, 20, 2, 20);
  limited.done_cpu_seconds = 20 * 0.5;
  for (int i = 0; i < 4; ++i) stage.observe(limited, 2);
  REQUIRE(stage.mean().max_rate > 0);
  stage.observe(long_splits(20, 0, 0, 0), 2);
  CHECK_FALSE(stage.changed());
}

TEST_CASE("the same long splits under way are not news in every interval", "[tuner][model]") {
  // What 4 actors show that take 1.15 times as long.
  const auto learned = [](double seconds) {
    StageEstimate stage;
    const auto add = [&](std::uint32_t actors, double takes) {
      StageObservation seen = long_splits(actors, 40, takes, actors);
      seen.done_seconds_squared = 40 * takes * takes;  // all alike
      stage.observe(seen, 2);
    };
    for (int i = 0; i < 6; ++i) add(1, seconds);
    const double before = stage.risk(4, 1.1);
    for (int i = 0; i < 2; ++i) add(4, 1.15 * seconds);
    return stage.risk(4, 1.1) / before;
  };
  CHECK(learned(7) > 2);  // more than every fourth split is another one
  CHECK(learned(800) < 1.2);
}

TEST_CASE("after a change of long splits, more actors and longer splits are no contention",
          "[tuner][model]") {
  StageEstimate stage;
  for (const std::uint32_t actors : {1U, 4U, 16U, 8U}) {
    for (int i = 0; i < 5; ++i) stage.observe(long_splits(actors, 2 * actors, 1, actors), 2);
  }
  const double before = stage.risk(80, 2);
  // Ten times the work, and 80 actors for it: what ends first is short, and began among 8.
  stage.observe(long_splits(8, 4, 5, 8), 2);
  REQUIRE(stage.changed());
  const double times[] = {5, 6, 8, 10};
  const double began[] = {8, 12, 40, 80};
  for (int i = 0; i < 4; ++i) stage.observe(long_splits(80, 16, times[i], began[i]), 2);
  CHECK(stage.risk(80, 2) == before);
  CHECK(stage.mean().seconds_with(80) == Approx(10).epsilon(0.2));
}

}  // namespace
}  // namespace forebay::tuner
