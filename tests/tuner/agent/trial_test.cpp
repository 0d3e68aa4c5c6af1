#include "tuner/agent/trial.h"

#include <cmath>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

constexpr double kPeriod = 2;      // seconds
constexpr double kAlone = 0.1;     // seconds of a split with one actor
constexpr double kBelieved = 0.2;  // alpha

PipelineDescription load_and_decode() {
  PipelineDescription description;
  description.stages = {{"load", 128, 1}, {"decode", 128, 1}};
  description.max_prefetch = 16;
  return description;
}

StageObservation busy(std::uint32_t actors, double seconds, double share, double period = kPeriod) {
  StageObservation stage;
  stage.actors = actors;
  stage.actor_seconds = period * actors;
  stage.working_seconds = share * stage.actor_seconds;
  stage.input_wait_seconds = stage.actor_seconds - stage.working_seconds;
  stage.done = static_cast<std::uint64_t>(std::lround(stage.working_seconds / seconds));
  const auto done = static_cast<double>(stage.done);
  stage.done_seconds = done * seconds;
  stage.done_cpu_seconds = 0.1 * stage.done_seconds;
  stage.done_seconds_squared = done * seconds * seconds;
  stage.done_actors = done * actors;
  return stage;
}

// A line whose first stage holds the others up. What it believes was true once: with 20 actors a
// split takes 0.48 s, because they contend.
struct Line {
  explicit Line(double seconds_of_period = kPeriod) : period(seconds_of_period) {
    for (int i = 0; i < 3; ++i) known.observe(seen(1, kAlone));
    for (int i = 0; i < 3; ++i) known.observe(seen(8, contended(8)));
    for (int i = 0; i < 3; ++i) known.observe(seen(20, contended(20)));
  }

  static double contended(double n) { return kAlone * (1 + kBelieved * (n - 1)); }

  Observation seen(std::uint32_t loading, double seconds) const {
    Observation observation;
    observation.seconds = period;
    observation.limits = {64, 10'000};
    observation.stages = {busy(loading, seconds, 1, period), busy(4, 0.01, 0.2, period)};
    observation.trainer_steps = observation.stages[0].done;
    observation.trainer_step_seconds = (1 - waits) * period;
    observation.trainer_wait_seconds = waits * period;
    return observation;
  }

  // An interval in which splits of the first stage take `seconds`; the plan stays as it was.
  void interval(double seconds) {
    Observation now = seen(actors, seconds);
    now.at_seconds = at_seconds += period;
    known.observe(now);
    Allocation planned = now.allocation();
    if (!trial.stage()) planned.actors[0] = plan;
    actors = trial.next(now, known, {.allocation = planned}).allocation.actors[0];
    if (!trial.stage()) actors = plan;
  }

  int until_trial(double seconds) {
    int intervals = 0;
    for (; !trial.stage() && intervals < 400; ++intervals) interval(seconds);
    return intervals;
  }

  PipelineEstimate known{load_and_decode()};
  Trial trial{load_and_decode()};
  double period = kPeriod;
  double at_seconds = 0;
  double waits = 0.5;  // share of the trainer's time
  std::uint32_t plan = 20;
  std::uint32_t actors = 20;
};

TEST_CASE("a belief that holds the slowest stage back is tested with more actors",
          "[tuner][agent]") {
  Line line;
  REQUIRE(line.until_trial(Line::contended(20)) < 10);
  CHECK(line.trial.stage() == std::size_t{0});
  CHECK(line.actors > 20);
  CHECK(line.actors <= 30);
}

TEST_CASE("a trial that refutes a belief replaces it", "[tuner][agent]") {
  Line line;
  line.until_trial(Line::contended(20));
  const double before = line.known.stages()[0].mean().rate(60);
  // The time does not grow with the actors: not contention, the work is longer than it was.
  for (int i = 0; i < 40 && line.trial.stage(); ++i) line.interval(Line::contended(20));
  REQUIRE_FALSE(line.trial.stage());
  CHECK(line.known.stages()[0].mean().rate(60) > 1.5 * before);
}

TEST_CASE("a trial that refutes nothing leaves the belief as it was, and the next comes later",
          "[tuner][agent]") {
  Line line;
  line.until_trial(Line::contended(20));
  const auto until_end = [&line] {
    for (int i = 0; i < 60 && line.trial.stage(); ++i) line.interval(Line::contended(line.actors));
    REQUIRE_FALSE(line.trial.stage());
  };
  until_end();
  CHECK(line.known.stages()[0].mean().rate(60) == Approx(60 / Line::contended(60)).epsilon(0.1));
  const int first_rest = line.until_trial(Line::contended(20));
  until_end();
  const int second_rest = line.until_trial(Line::contended(20));
  CHECK(first_rest >= 8);
  CHECK(second_rest > 1.5 * first_rest);
}

// A stage that seems to be held back by a disk's limit: with one actor a split took 0.1 s, half of
// it on a CPU; eight actors wait 0.75 s for each of theirs.
struct Waiting {
  Observation seen(std::uint32_t actors, double seconds) {
    Observation observation;
    observation.at_seconds = at_seconds += kPeriod;
    observation.seconds = kPeriod;
    observation.limits = {2, 10'000};
    observation.stages = {busy(actors, seconds, 1), busy(4, 0.01, 0.2)};
    observation.stages[0].done_cpu_seconds = 0.05 * static_cast<double>(observation.stages[0].done);
    observation.trainer_steps = observation.stages[0].done;
    observation.trainer_wait_seconds = kPeriod;
    return observation;
  }

  double at_seconds = 0;
};

TEST_CASE("a rate limit is tried with the actors that answers would need", "[tuner][agent]") {
  Waiting stage;
  PipelineEstimate known(load_and_decode());
  Trial trial(load_and_decode());
  for (int i = 0; i < 3; ++i) known.observe(stage.seen(1, 0.1));
  std::uint32_t actors = 8;
  for (int i = 0; i < 20 && !trial.stage(); ++i) {
    const Observation now = stage.seen(8, 0.8);
    known.observe(now);
    actors = trial.next(now, known, {.allocation = now.allocation()}).allocation.actors[0];
  }
  REQUIRE(trial.stage() == std::size_t{0});
  // By its CPU time alone four actors could keep the CPUs busy; twelve are what half as many more
  // try.
  CHECK(actors == 12);
  REQUIRE(known.mean()[0].max_rate == Approx(10));
  // They wait no longer, so there is no limit.
  for (int i = 0; i < 20 && trial.stage(); ++i) {
    const Observation now = stage.seen(actors, 0.8);
    known.observe(now);
    trial.next(now, known, {.allocation = now.allocation()});
  }
  REQUIRE(trial.outcome());
  CHECK(trial.outcome()->refuted);
  CHECK(known.mean()[0].max_rate == 0);
  CHECK(known.mean()[0].rate(24) > 2 * 10);  // 30 without contention, which is not excluded
}

TEST_CASE("with shorter periods a trial begins after as many of them", "[tuner][agent]") {
  const int usual = Line().until_trial(Line::contended(20));
  Line quick(0.5);
  CHECK(quick.until_trial(Line::contended(20)) <= usual + 3);
}

TEST_CASE("no trial takes place while the trainer is fed", "[tuner][agent]") {
  Line line;
  line.waits = 0;
  CHECK(line.until_trial(Line::contended(20)) == 400);
}

TEST_CASE("no trial takes place while the plan is to change", "[tuner][agent]") {
  Line line;
  for (int i = 0; i < 30; ++i) {
    const Observation now = line.seen(20, Line::contended(20));
    line.known.observe(now);
    line.trial.next(now, line.known, {.allocation = {{40, 4}, 1}});
    CHECK_FALSE(line.trial.stage());
  }
}

TEST_CASE("a trial costs at most three per cent by the belief on trial", "[tuner][agent]") {
  Line line;
  // With 0.03 n (n - 1), eight actors are fastest: 12 would be 8 % slower.
  const auto coherent = [](double n) { return kAlone * (1 + 0.015 * n * (n - 1)); };
  PipelineEstimate known(load_and_decode());
  for (const std::uint32_t n : {1U, 1U, 4U, 4U, 16U, 16U, 8U, 8U, 8U, 8U}) {
    known.observe(line.seen(n, coherent(n)));
  }
  const StageCost believed = known.stages()[0].mean();
  Trial trial(load_and_decode());
  Planned planned;
  for (int i = 0; i < 20 && !trial.stage(); ++i) {
    const Observation now = line.seen(8, coherent(8));
    known.observe(now);
    planned = trial.next(now, known, {.allocation = now.allocation()});
  }
  REQUIRE(trial.stage());
  CHECK(believed.rate(planned.allocation.actors[0]) >= 0.969 * believed.rate(8));
}

TEST_CASE("where no more actors fit, a few fewer are tried", "[tuner][agent]") {
  // Half of the time with 20 actors is believed to be contention: 19 would take 2.5 % of the rate.
  const auto mild = [](double n) { return kAlone * (1 + 0.05 * (n - 1)); };
  const auto actors_tried = [&mild](std::uint64_t memory_bytes) {
    const Line line;
    PipelineEstimate known(load_and_decode());
    Trial trial(load_and_decode());
    const auto seen = [&](std::uint32_t n) {
      Observation now = line.seen(n, mild(n));
      now.limits.memory_bytes = memory_bytes;
      return now;
    };
    for (const std::uint32_t n : {1U, 1U, 8U, 8U, 20U, 20U}) known.observe(seen(n));
    Planned planned;
    for (int i = 0; i < 400 && !trial.stage(); ++i) {
      known.observe(seen(20));
      planned = trial.next(seen(20), known, {.allocation = seen(20).allocation()});
    }
    REQUIRE(trial.stage() == std::size_t{0});
    return planned.allocation.actors[0];
  };
  CHECK(actors_tried(worst_case_bytes(load_and_decode(), {{20, 4}, 1})) == 19);
  CHECK(actors_tried(10'000) > 20);
}

TEST_CASE("a stage on trial is supplied as it would need to be if the belief were wrong",
          "[tuner][agent]") {
  Line line;
  // Four actors decode 44 splits/s, which suffices for the 42 that 20 loading actors make.
  const auto narrow = [&line](std::uint32_t loading) {
    Observation seen = line.seen(loading, Line::contended(20));
    seen.stages[1] = busy(4, 0.09, 0.94);
    return seen;
  };
  Planned planned;
  for (int i = 0; i < 20 && !line.trial.stage(); ++i) {
    const Observation now = narrow(20);
    line.known.observe(now);
    planned = line.trial.next(now, line.known, {.allocation = now.allocation()});
  }
  REQUIRE(line.trial.stage() == std::size_t{0});
  const double hoped = planned.allocation.actors[0] / Line::contended(20);
  CHECK(planned.allocation.actors[1] >= hoped * 0.09);
  CHECK(planned.allocation.actors[1] > 4);
}

TEST_CASE("a trial ends when the plan goes beyond it", "[tuner][agent]") {
  // Splits ten times as long, and as slow as is believed: a trial lasts for several intervals.
  const auto intervals_of_trial = [](std::uint32_t beyond) {
    const Line line;
    PipelineEstimate known(load_and_decode());
    Trial trial(load_and_decode());
    std::uint32_t actors = 20;
    const auto seen = [&] { return line.seen(actors, 10 * Line::contended(actors)); };
    for (const std::uint32_t n : {1U, 1U, 8U, 8U, 8U}) {
      known.observe(line.seen(n, 10 * Line::contended(n)));
    }
    for (int i = 0; i < 40 && !trial.stage(); ++i) {
      known.observe(seen());
      actors = trial.next(seen(), known, {.allocation = seen().allocation()}).allocation.actors[0];
    }
    REQUIRE(trial.stage());
    int intervals = 0;
    for (; intervals < 40 && trial.stage(); ++intervals) {
      known.observe(seen());
      trial.next(seen(), known, {.allocation = {{actors + beyond, 4}, 1}});
    }
    return intervals;
  };
  CHECK(intervals_of_trial(20) < intervals_of_trial(0));
}

TEST_CASE("a trial ends when the work changes", "[tuner][agent]") {
  Line line;
  line.until_trial(Line::contended(20));
  line.interval(6 * Line::contended(line.actors));
  CHECK_FALSE(line.trial.stage());
}

}  // namespace
}  // namespace forebay::tuner
