#include "tuner/cluster/cluster_planner.h"

#include <cstdint>
#include <string>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

/// A node's report of two seconds in which it made `rate` splits/s with `actors` actors a stage;
/// the only stages take 0.01 and 0.04 CPU seconds a split.
NodeReport report_of(const std::string& name, double rate, std::uint32_t actors) {
  NodeReport report{.name = name, .trainer = name == "own"};
  const double seconds[] = {0.01, 0.04};
  report.limits = {.cpus = 4, .memory_bytes = std::uint64_t{1} << 30};
  report.seen = {.at_seconds = 2, .seconds = 2, .limits = report.limits};
  for (int i = 0; i < 2; ++i) {
    report.description.stages.push_back({.name = i == 0 ? "load" : "decode", .max_actors = 32});
    const double done = 2 * rate;
    const double worked = done * seconds[i];
    report.seen.stages.push_back({.actors = actors,
                                  .actor_seconds = 2.0 * actors,
                                  .working_seconds = worked,
                                  .input_wait_seconds = 2.0 * actors - worked,
                                  .cpu_seconds = worked,
                                  .done = static_cast<std::uint64_t>(done),
                                  .done_seconds = worked,
                                  .done_seconds_squared = worked * seconds[i],
                                  .done_cpu_seconds = worked,
                                  .done_actors = done * actors});
  }
  report.seen.trainer_steps = static_cast<std::uint64_t>(2 * rate);
  return report;
}

/// Two seconds of a trainer that waited so many of them.
ClusterReport cluster(double waited, std::initializer_list<NodeReport> nodes) {
  return {.at_seconds = 2, .trainer = {.seconds = 2, .waited_seconds = waited}, .nodes = nodes};
}

TEST_CASE("a trainer that is fed by its own node needs no worker", "[tuner][cluster_planner]") {
  ClusterPlanner planner;
  ClusterAdvice advice;
  for (int i = 0; i < 10; ++i) {
    advice = planner.decide(
        cluster(0, {report_of("a", 10, 1), report_of("b", 10, 1), report_of("own", 10, 2)}));
  }
  // 30 splits/s; the own node's 4 CPUs make 80.
  CHECK(advice.demand == Approx(30));
  CHECK(advice.fed == 0);
  CHECK_FALSE(advice.nodes[0].fed);
  CHECK(advice.nodes[2].fed);
  CHECK(advice.number == 10);
}

TEST_CASE("a trainer that waits gets all workers, and more are worth having",
          "[tuner][cluster_planner]") {
  ClusterPlanner planner;
  ClusterAdvice advice;
  for (int i = 0; i < 3; ++i) {
    advice = planner.decide(cluster(1.8, {report_of("a", 20, 1), report_of("own", 20, 1)}));
  }
  CHECK(advice.demand == Approx(400));  // 40 in the tenth of the time in which it did not wait
  CHECK(advice.fed == 1);
  CHECK(advice.workers > advice.fed);
  CHECK(advice.nodes[0].allocation.actors[1] > 2);
}

TEST_CASE("a node that has shown nothing is planned with the costs of others",
          "[tuner][cluster_planner]") {
  ClusterPlanner planner;
  NodeReport joined = report_of("b", 0, 1);
  const ClusterAdvice advice =
      planner.decide(cluster(1.8, {report_of("a", 20, 1), joined, report_of("own", 20, 1)}));
  CHECK(advice.fed == 2);
  CHECK(advice.nodes[1].allocation == advice.nodes[0].allocation);
}

TEST_CASE("a trainer that waits only now and then gets no more workers",
          "[tuner][cluster_planner]") {
  ClusterPlanner planner;
  for (int i = 0; i < 30; ++i) {
    // Two nodes make 160 splits/s, a little less than 1.05 times what the trainer takes.
    const double waited = i % 2 == 0 ? 0.02 : 0.1;
    CHECK(
        planner.decide(cluster(waited, {report_of("a", 77, 4), report_of("own", 77, 4)})).workers <=
        1);
  }
}

TEST_CASE("a trainer that pauses takes its splits in the rest of the time",
          "[tuner][cluster_planner]") {
  ClusterPlanner planner;
  ClusterReport report = cluster(0, {report_of("a", 10, 1), report_of("own", 10, 1)});
  report.trainer = {.seconds = 1.6, .paused_seconds = 0.4};
  CHECK(planner.decide(report).demand == Approx(25));  // 20/s in 0.8 of the time
  report.trainer = {.seconds = 0.2, .paused_seconds = 1.8};
  CHECK(planner.decide(report).demand == Approx(25));  // That says nothing.
}

TEST_CASE("an evaluation changes neither the workers that are fed nor those worth having",
          "[tuner][cluster_planner]") {
  ClusterPlanner planner;
  const auto busy = [](double rate) {
    return cluster(0,
                   {report_of("a", rate, 1), report_of("b", rate, 1), report_of("own", rate, 2)});
  };
  ClusterAdvice before;
  for (int i = 0; i < 12; ++i) before = planner.decide(busy(10));
  CHECK(before.fed == 0);
  for (int i = 0; i < 5; ++i) {
    ClusterReport pause = busy(0);
    pause.trainer = {.paused_seconds = 2};
    const ClusterAdvice advice = planner.decide(pause);
    CHECK(advice.fed == before.fed);
    CHECK(advice.workers == before.workers);
  }
}

/// A node whose splits take four times as long.
NodeReport slow(NodeReport report) {
  for (StageObservation& stage : report.seen.stages) {
    stage.working_seconds *= 4;
    stage.cpu_seconds *= 4;
    stage.done_seconds *= 4;
    stage.done_seconds_squared *= 16;
    stage.done_cpu_seconds *= 4;
  }
  return report;
}

TEST_CASE("what is known of a node stays while it is away, but not for ever",
          "[tuner][cluster_planner]") {
  const auto own = report_of("own", 20, 1);
  const auto expected_after = [&](std::uint64_t away) {
    ClusterPlanner planner;
    for (int i = 0; i < 4; ++i) planner.decide(cluster(1.8, {slow(report_of("a", 5, 1)), own}));
    for (std::uint64_t i = 0; i < away; ++i) planner.decide(cluster(1.8, {own}));
    // It is back, and has made nothing yet.
    return planner.decide(cluster(1.8, {report_of("a", 0, 1), own})).nodes[0].splits_per_second;
  };
  CHECK(expected_after(ClusterPlanner::kForgottenAfter - 1) == Approx(20).epsilon(0.1));
  CHECK(expected_after(ClusterPlanner::kForgottenAfter + 1) > 60);
}

/// The same with `actors` actors that load, which all wait for something without a CPU.
NodeReport waiting(const std::string& name, double rate, std::uint32_t actors) {
  NodeReport report = report_of(name, rate, 1);
  StageObservation& load = report.seen.stages[0];
  const double seconds = actors / rate;  // Of a split.
  load.actors = actors;
  load.actor_seconds = load.working_seconds = 2.0 * actors;
  load.input_wait_seconds = 0;
  load.done_seconds = 2 * rate * seconds;
  load.done_seconds_squared = 2 * rate * seconds * seconds;
  load.done_actors = 2 * rate * actors;
  return report;
}

TEST_CASE("a limit that all nodes meet at one stage is theirs together",
          "[tuner][cluster_planner]") {
  // Each node loads 20 splits/s whatever its actors, and could make 80/s: 60/s in all are what a
  // file server gives, so the trainer's node alone can take most of it.
  ClusterPlanner planner;
  std::uint32_t fewest = 2;
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t actors = i < 2 ? 1 : 8;  // More actors than before bring no more.
    fewest = planner
                 .decide(cluster(1.5, {waiting("a", 20, actors), waiting("b", 20, actors),
                                       waiting("own", 20, actors)}))
                 .fed;
  }
  CHECK(fewest == 0);
}

TEST_CASE("more threads for the model do not count for more than a shared limit allows",
          "[tuner][cluster_planner]") {
  // The file server gives 60 splits/s. One thread trains 60; two could train 100.
  ClusterPlanner planner;
  ClusterAdvice advice;
  bool tried = false;
  for (int i = 0; i < 40; ++i) {
    const std::uint32_t actors = i < 2 ? 1 : 8;
    ClusterReport report =
        cluster(i < 4 ? 1.5 : 0,
                {waiting("a", 20, actors), waiting("b", 20, actors), waiting("own", 20, actors)});
    const bool two = advice.threads == 2;
    if (two) report.trainer.waited_seconds = 0.8;
    report.trainer.able = two ? 100 : 60;
    report.trainer.threads = two ? 2 : 1;
    report.trainer.most_threads = 2;
    advice = planner.decide(report);
    tried = tried || two;
  }
  CHECK(tried);
  CHECK(advice.reason.find("more train no more") != std::string::npos);
  CHECK(advice.threads == 1);
}

TEST_CASE("early splits get more room while the trainer waits for the next one",
          "[tuner][cluster_planner]") {
  ClusterPlanner planner;
  NodeReport own = report_of("own", 20, 1);
  own.description.prefetch_item_bytes = 1 << 10;
  own.description.max_prefetch = 100;
  own.seen.prefetch = 8;
  own.seen.prefetch_fill = 0.1;
  own.seen.stages[0].input_wait_seconds = 0;
  CHECK(planner.decide(cluster(1, {own})).nodes[0].allocation.prefetch < 16);
  own.seen.prefetch_fill = 0.5;
  CHECK(planner.decide(cluster(1, {own})).nodes[0].allocation.prefetch == 16);
  own.seen.prefetch = 64;
  CHECK(planner.decide(cluster(1, {own})).nodes[0].allocation.prefetch == 100);
}

TEST_CASE("a trainer that waits while no split may begin gets more places for early ones",
          "[tuner][cluster_planner]") {
  ClusterPlanner planner;
  NodeReport own = report_of("own", 2, 1);  // Its actors wait for input nearly all the time.
  own.description.prefetch_item_bytes = 1 << 10;
  own.description.max_prefetch = 100;
  own.seen.prefetch = 1;
  CHECK(planner.decide(cluster(0, {own})).nodes[0].allocation.prefetch == 1);  // Nor the trainer.
  CHECK(planner.decide(cluster(1, {own})).nodes[0].allocation.prefetch == 2);
  own.seen.prefetch = 2;
  CHECK(planner.decide(cluster(1, {own})).nodes[0].allocation.prefetch == 4);
}

TEST_CASE("a node whose splits wait for its link packs them", "[tuner][cluster_planner]") {
  ClusterPlanner planner;
  NodeReport thin = report_of("a", 10, 1);
  thin.ways = {{}, {.ratio = 2, .seconds = 0.001}};
  const NodeReport own = report_of("own", 10, 1);
  CHECK(planner.decide(cluster(1.8, {thin, own})).nodes[0].way == 0);
  thin.blocked = 0.9;
  const ClusterAdvice advice = planner.decide(cluster(1.8, {thin, own}));
  CHECK(advice.nodes[0].way == 1);
  CHECK(advice.nodes[0].splits_per_second == Approx(20).epsilon(0.1));  // 10/s plain, twice that.
}

TEST_CASE("the same reports give the same advice", "[tuner][cluster_planner]") {
  ClusterPlanner one;
  ClusterPlanner two;
  for (int i = 0; i < 5; ++i) {
    const ClusterReport seen =
        cluster(1, {report_of("a", 20, 1), report_of("b", 10 + i, 2), report_of("own", 20, 1)});
    const ClusterAdvice a = one.decide(seen);
    const ClusterAdvice b = two.decide(seen);
    CHECK(a.reason == b.reason);
    for (std::size_t k = 0; k < 3; ++k) CHECK(a.nodes[k].allocation == b.nodes[k].allocation);
  }
}

}  // namespace
}  // namespace forebay::tuner
