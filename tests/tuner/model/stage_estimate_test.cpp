#include "tuner/model/pipeline_estimate.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

// `done` splits of `seconds` each in an interval of 2 s, a share `cpu` of them on a CPU.
StageObservation interval(std::uint32_t actors, std::uint64_t done, double seconds, double cpu) {
  StageObservation seen;
  const auto splits = static_cast<double>(done);
  seen.actors = actors;
  seen.actor_seconds = 2.0 * actors;
  seen.working_seconds = splits * seconds;
  seen.input_wait_seconds = seen.actor_seconds - seen.working_seconds;
  seen.done = done;
  seen.done_seconds = splits * seconds;
  seen.done_seconds_squared = splits * seconds * seconds;
  seen.done_cpu_seconds = splits * seconds * cpu;
  seen.done_actors = splits * actors;
  return seen;
}

TEST_CASE("wanting a CPU is not part of what a split costs", "[tuner][model]") {
  StageObservation seen = interval(4, 20, 0.1, 1);
  seen.done_seconds += 20 * 0.3;  // each waited 0.3 s for a CPU
  seen.done_ready_seconds = 20 * 0.3;
  StageEstimate stage;
  stage.observe(seen, 2);
  CHECK(stage.mean().seconds == Approx(0.1).epsilon(0.05));
  CHECK(stage.mean().cpu == Approx(1));
}

TEST_CASE("one split says nothing about noise", "[tuner][model]") {
  StageEstimate stage;
  const double before = stage.noise();
  stage.observe(interval(1, 1, 0.1, 1), 2);
  CHECK(stage.noise() == before);
}

TEST_CASE("waiting that comes without CPU time is a rate limit, not contention", "[tuner][model]") {
  StageEstimate stage;
  stage.observe(interval(1, 20, 0.1, 0.5), 2);
  // 20 actors could do 200/s; the disk gives 50/s, so each split takes 0.4 s, its CPU time as
  // before.
  StageObservation limited = interval(20, 100, 0.4, 0.125);
  stage.observe(limited, 2);
  CHECK(stage.mean().max_rate == Approx(50));
  CHECK(stage.mean().cpu == Approx(0.5));
  CHECK(stage.mean().seconds_with(20) == Approx(0.1).epsilon(0.05));
}

// As with a disk that other programs use: reads from the page cache came first.
TEST_CASE("splits that wait long though actors are idle wait for no limit", "[tuner][model]") {
  StageEstimate stage;
  stage.observe(interval(2, 300, 0.003, 0.5), 2);
  const StageObservation slow = interval(2, 110, 0.03, 0.05);  // 3.3 s of 4 s
  stage.observe(slow, 2);
  CHECK(stage.mean().seconds == Approx(0.003).epsilon(0.05));  // One interval is not enough.
  for (int i = 0; i < 3; ++i) stage.observe(slow, 2);
  CHECK(stage.mean().max_rate == 0);
  CHECK(stage.mean().seconds == Approx(0.03).epsilon(0.1));
  CHECK(stage.mean().cpu == Approx(0.05).epsilon(0.1));
  SECTION("which more actors do not change") {
    for (int i = 0; i < 5; ++i) stage.observe(interval(8, 440, 0.03, 0.05), 2);
    CHECK(stage.mean().rate(8) == Approx(8 / 0.03).epsilon(0.15));
  }
  SECTION("until they wait as little as before, and then for a limit") {
    for (int i = 0; i < 8; ++i) stage.observe(interval(2, 300, 0.003, 0.5), 2);
    CHECK(stage.mean().seconds == Approx(0.003).epsilon(0.1));
    stage.observe(interval(2, 130, 0.03, 0.05), 2);  // all of 4 s
    CHECK(stage.mean().max_rate == Approx(65).epsilon(0.05));
  }
}

TEST_CASE("what a single actor waits for is no limit, unless several had the same rate",
          "[tuner][model]") {
  StageEstimate stage;
  stage.observe(interval(1, 20, 0.1, 0.5), 2);
  SECTION("no limit was known") {
    for (int i = 0; i < 4; ++i) stage.observe(interval(1, 4, 0.5, 0.1), 2);
    CHECK(stage.mean().max_rate == 0);
    CHECK(stage.mean().seconds == Approx(0.5).epsilon(0.05));
  }
  SECTION("four actors had 2/s, too") {
    for (int i = 0; i < 12; ++i) stage.observe(interval(4, 4, 2, 0.025), 2);
    for (int i = 0; i < 4; ++i) stage.observe(interval(1, 4, 0.5, 0.1), 2);
    CHECK(stage.mean().max_rate == Approx(2).epsilon(0.05));
    SECTION("but now one has less") {
      for (int i = 0; i < 4; ++i) stage.observe(interval(1, 1, 2, 0.025), 2);
      CHECK(stage.mean().max_rate == 0);
    }
  }
}

TEST_CASE("a rate above the limit shows that the limit has gone", "[tuner][model]") {
  StageEstimate stage;
  stage.observe(interval(1, 20, 0.1, 0.5), 2);
  stage.observe(interval(20, 100, 0.4, 0.125), 2);
  stage.observe(interval(6, 110, 0.1, 0.5), 2);  // 55/s, no actor waits
  CHECK(stage.mean().max_rate == 0);
}

TEST_CASE("a rate limit is forgotten when fewer actors stay below it", "[tuner][model]") {
  StageEstimate stage;
  stage.observe(interval(1, 20, 0.1, 0.5), 2);
  stage.observe(interval(20, 100, 0.4, 0.125), 2);
  REQUIRE(stage.mean().max_rate == Approx(50));
  stage.observe(interval(6, 30, 0.4, 0.125), 2);  // 15/s: each split takes 0.4 s as before
  CHECK(stage.mean().max_rate == 0);
  CHECK(stage.mean().cpu == Approx(0.125));
}

TEST_CASE("fewer actors that wait no longer say nothing against a rate limit", "[tuner][model]") {
  StageEstimate stage;
  stage.observe(interval(1, 20, 0.1, 0.5), 2);
  stage.observe(interval(20, 100, 0.4, 0.125), 2);
  REQUIRE(stage.mean().max_rate == Approx(50));
  // Four actors make 40 splits/s on their own.
  for (int i = 0; i < 5; ++i) stage.observe(interval(4, 80, 0.1, 0.5), 2);
  CHECK(stage.mean().max_rate == Approx(50));
}

TEST_CASE("the splits of actors that leave do not lower a rate limit", "[tuner][model]") {
  StageEstimate stage;
  stage.observe(interval(1, 20, 0.1, 0.5), 2);
  stage.observe(interval(20, 100, 0.4, 0.125), 2);
  REQUIRE(stage.mean().max_rate == Approx(50));
  StageObservation fewer = interval(20, 60, 0.66, 0.05 / 0.66);  // they began among 20
  fewer.actors = 8;
  fewer.input_wait_seconds = 0;
  stage.observe(fewer, 2);
  CHECK(stage.mean().max_rate == Approx(50));
  SECTION("but those of a steady number do") {
    stage.observe(interval(20, 60, 0.66, 0.05 / 0.66), 2);
    CHECK(stage.mean().max_rate == Approx(30).epsilon(0.05));
  }
}

TEST_CASE("a rate limit is forgotten when more actors exceed it and wait as long",
          "[tuner][model]") {
  StageEstimate stage;
  stage.observe(interval(1, 20, 0.1, 0.5), 2);
  stage.observe(interval(8, 20, 0.8, 0.0625), 2);
  REQUIRE(stage.mean().max_rate == Approx(10));
  const StageCost waits = stage.if_latency();
  CHECK(waits.seconds == Approx(0.8));
  CHECK(waits.cpu == Approx(0.0625));
  CHECK(waits.rate(12) == Approx(15));
  stage.observe(interval(12, 30, 0.8, 0.0625), 2);  // 15/s
  CHECK(stage.mean().max_rate == 0);
  CHECK(stage.mean().cpu == Approx(0.0625));

  StageEstimate raised;
  raised.observe(interval(1, 20, 0.1, 0.5), 2);
  raised.observe(interval(8, 20, 0.8, 0.0625), 2);
  raised.observe(interval(12, 48, 0.5, 0.1), 2);  // 24/s, and each split waits less: a faster disk
  CHECK(raised.mean().max_rate == Approx(24));
  CHECK(raised.mean().cpu == Approx(0.5));
}

TEST_CASE("a limit that looked higher while the pipeline filled is lowered, not forgotten",
          "[tuner][model]") {
  StageEstimate stage;
  stage.observe(interval(1, 5, 0.4, 1), 2);
  // 22 actors took splits at once and wait for their starts: 19/s are under way, 6/s are finished.
  StageObservation filling = interval(22, 12, 1.15, 0.35);
  filling.working_seconds = filling.actor_seconds;
  filling.input_wait_seconds = 0;
  stage.observe(filling, 2);
  REQUIRE(stage.mean().max_rate == Approx(22 / 1.15));
  stage.observe(interval(10, 14, 1.43, 0.28), 2);  // all 10 wait longer than the 22 did
  CHECK(stage.mean().max_rate == Approx(7));
  CHECK(stage.mean().cpu == Approx(1));
  CHECK(stage.mean().seconds_with(10) == Approx(0.4).epsilon(0.05));
}

TEST_CASE("CPU time tells waiting from work, however long the wait", "[tuner][model]") {
  StageEstimate stage;
  stage.observe(interval(1, 5, 0.2, 0.05), 2);
  stage.observe(interval(12, 10, 2.4, 0.01 / 2.4), 2);  // 5/s, as before
  CHECK(stage.mean().max_rate == Approx(5));
  CHECK(stage.mean().seconds_with(12) == Approx(0.2).epsilon(0.05));
}

TEST_CASE("noise is the difference between splits of one interval", "[tuner][model]") {
  StageObservation seen = interval(1, 200, 0.01, 1);
  seen.done_seconds_squared *= 1 + 0.3 * 0.3;
  StageEstimate stage;
  stage.observe(seen, 2);
  CHECK(stage.noise() == Approx(0.3).epsilon(0.02));
}

TEST_CASE("an interval without a finished split gives only a lower bound of its time",
          "[tuner][model]") {
  StageObservation seen = interval(1, 0, 0, 0);
  seen.working_seconds = 1.5;
  StageEstimate stage;
  stage.observe(seen, 2);
  CHECK_FALSE(stage.seen());
  CHECK(stage.unfinished_seconds() == Approx(1.5));
}

TEST_CASE("splits that take long began among all the actors alive then", "[tuner][model]") {
  StageEstimate stage;
  for (int i = 0; i < 4; ++i) stage.observe(interval(1, 1, 2, 0.1), 2);
  // 45 actors began; 42 of them are to go. 14 s say little of 45 actors, and would say all of 3.
  for (int i = 0; i < 7; ++i) {
    StageObservation blocked = interval(3, 0, 0, 0);
    blocked.leaving = 42;
    blocked.actor_seconds = blocked.working_seconds = 90;
    stage.observe(blocked, 2);
  }
  CHECK(stage.mean().slow(3) < 1.5);
}

TEST_CASE("few splits of many under way are the short ones, and show no contention later",
          "[tuner][model]") {
  StageEstimate stage;
  StageObservation early = interval(24, 8, 2, 0.1);
  early.done_seconds_squared *= 1 + 0.5 * 0.5;
  early.working_seconds = early.actor_seconds;  // 48 s of work, 16 of them completed
  for (int i = 0; i < 2; ++i) stage.observe(early, 2);
  StageObservation later = interval(24, 14, 3.4, 0.1);
  later.done_seconds_squared *= 1 + 0.5 * 0.5;
  for (int i = 0; i < 8; ++i) stage.observe(later, 2);
  CHECK(stage.mean().seconds_with(24) == Approx(3.4).epsilon(0.12));
}

TEST_CASE("how many long splits were completed shows that they have grown longer",
          "[tuner][model]") {
  StageEstimate stage;
  StageObservation before = interval(20, 20, 2, 0.2);
  before.done_seconds_squared *= 1 + 0.5 * 0.5;
  for (int i = 0; i < 10; ++i) stage.observe(before, 2);
  // The work takes eight times as long; those that end now began before, or are the short ones.
  StageObservation after = interval(20, 2, 3, 0.2);
  after.working_seconds = after.actor_seconds;
  for (int i = 0; i < 4; ++i) stage.observe(after, 2);
  CHECK(stage.mean().seconds_with(20) > 8);
}

TEST_CASE("long splits of fewer contending actors are no other work", "[tuner][model]") {
  StageEstimate stage;
  bool changed = false;
  // Alone a split takes 2 s; each further actor makes all a quarter of that slower.
  const auto run = [&](std::uint32_t actors, int intervals) {
    const double seconds = 2 + 0.5 * (actors - 1);
    double done = 0;
    for (int i = 0; i < intervals; ++i) {
      const double until = (i + 1) * 2.0 * actors / seconds;
      StageObservation seen = interval(
          actors, static_cast<std::uint64_t>(until) - static_cast<std::uint64_t>(done), seconds, 1);
      done = until;
      seen.working_seconds = seen.actor_seconds;
      seen.input_wait_seconds = 0;
      stage.observe(seen, 2);
      changed = changed || stage.changed();
    }
  };
  for (const std::uint32_t actors : {1U, 2U, 4U, 8U, 20U}) run(actors, 12);
  changed = false;
  run(5, 60);
  CHECK_FALSE(changed);
  CHECK(stage.mean().seconds_with(5) == Approx(4).epsilon(0.05));
}

TEST_CASE("a doubt that the next intervals do not support is dropped", "[tuner][model]") {
  StageEstimate stage;
  const auto at = [&stage](std::uint32_t actors, double seconds) {
    stage.observe(interval(actors, 20, seconds, 1), 2);
  };
  for (const std::uint32_t actors : {1U, 8U, 20U, 20U}) at(actors, 0.1 * (1 + 0.2 * (actors - 1)));
  const double rate = stage.mean().rate(60);
  stage.question(20);
  CHECK(stage.mean().rate(60) > 1.1 * rate);
  at(30, 0.1 * (1 + 0.2 * 29));
  const double doubted = stage.mean().slow(60);
  CHECK_FALSE(stage.conclude());
  CHECK(stage.mean().slow(60) != doubted);
  CHECK(stage.mean().rate(60) == Approx(rate).epsilon(0.05));
  stage.question(20);
  for (int i = 0; i < 3; ++i) at(30, 0.1 * (1 + 0.2 * 19));
  CHECK(stage.conclude());
  CHECK(stage.mean().rate(60) > 1.2 * rate);
}

TEST_CASE("a limit of long splits follows what they sustain, not the wave of one interval",
          "[tuner][model]") {
  StageEstimate stage;
  for (int i = 0; i < 3; ++i) stage.observe(interval(1, 1, 2, 0.5), 2);
  // 40 actors started together at 4/s: in turn 16 and no splits end in an interval.
  for (int i = 0; i < 6; ++i) {
    StageObservation many = interval(40, 16, 10, 0.1);
    many.working_seconds = many.actor_seconds;
    many.input_wait_seconds = 0;
    stage.observe(many, 2);
    StageObservation none = interval(40, 1, 10, 0.1);
    none.working_seconds = none.actor_seconds;
    none.input_wait_seconds = 0;
    stage.observe(none, 2);
  }
  CHECK(stage.mean().max_rate > 4);
  CHECK(stage.mean().max_rate < 6);
  // 16 in one more interval are the wave, not 8/s.
  StageObservation wave = interval(40, 16, 10, 0.1);
  wave.working_seconds = wave.actor_seconds;
  wave.input_wait_seconds = 0;
  stage.observe(wave, 2);
  CHECK(stage.mean().max_rate < 6);
}

}  // namespace
}  // namespace forebay::tuner
