#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tuner/cluster/cluster_planner.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

constexpr double kStageSeconds[] = {0.01, 0.04};  // CPU seconds a split

/// A trainer whose model trains 20 splits/s a thread, on a node of 4 CPUs of which each thread
/// takes one while it works; the stages make 20 splits/s a CPU. So 4 CPUs make and train 40
/// splits/s. Workers have 4 CPUs, which make 80.
struct TrainedCluster {
  explicit TrainedCluster(std::uint32_t workers, std::uint32_t most = 4)
      : most_threads(most), workers_(workers) {
    advice.nodes.assign(workers + 1,
                        {.allocation = {.actors = {1, 1}, .prefetch = 1}, .fed = true});
    advice.threads = 1;
  }

  /// Two seconds under the latest advice.
  void decide() {
    threads_ = advice.threads;
    const double able = per_thread * threads_ + more;
    double workers = 0;
    for (std::uint32_t k = 0; k < workers_; ++k) workers += can_make(k);
    const double supply = workers + can_make(workers_);
    // The stages have the CPUs that the model leaves: rate = workers + 20 * (4 - threads * busy).
    rate = std::min({able, supply, (workers + 80) / (1 + 20.0 * threads_ / able)});
    const double busy = rate / able;
    ClusterReport report{.at_seconds = 2,
                         .trainer = {.seconds = 2,
                                     .waited_seconds = 2 * (1 - busy),
                                     .able = able,
                                     .threads = threads_,
                                     .most_threads = most_threads}};
    for (std::uint32_t k = 0; k <= workers_; ++k) {
      report.nodes.push_back(report_of(k, supply > 0 ? rate * can_make(k) / supply : 0));
    }
    report.nodes.back().seen.other_cpu_seconds = 2 * busy * threads_;
    advice = planner.decide(report);
  }

  bool says(const std::string& words) const {
    return advice.reason.find(words) != std::string::npos;
  }
  const Allocation& own() const { return advice.nodes.back().allocation; }

  ClusterPlanner planner;
  ClusterAdvice advice;
  std::string prefix = "a";  // of the workers' names
  double per_thread = 20;    // splits/s
  double more = 0;           // splits/s, with any number of threads
  std::uint32_t most_threads;
  double rate = 0;  // splits/s in the last interval

 private:
  double can_make(std::uint32_t k) const {
    const NodeAdvice& told = advice.nodes[k];
    if (!told.fed) return 0;
    double most = 4 / (kStageSeconds[0] + kStageSeconds[1]);
    for (int i = 0; i < 2; ++i) {
      most = std::min(most, told.allocation.actors[i] / kStageSeconds[i]);
    }
    return most;
  }

  NodeReport report_of(std::uint32_t k, double made) const {
    NodeReport report{.name = k == workers_ ? "trainer" : prefix + std::to_string(k),
                      .trainer = k == workers_};
    report.limits = {.cpus = 4, .memory_bytes = std::uint64_t{1} << 30};
    report.seen = {.at_seconds = 2, .seconds = 2, .limits = report.limits};
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t actors = advice.nodes[k].allocation.actors[i];
      const double worked = 2 * made * kStageSeconds[i];
      report.description.stages.push_back({.name = i == 0 ? "load" : "decode", .max_actors = 32});
      report.seen.stages.push_back({.actors = actors,
                                    .actor_seconds = 2.0 * actors,
                                    .working_seconds = worked,
                                    .input_wait_seconds = 2.0 * actors - worked,
                                    .cpu_seconds = worked,
                                    .done = static_cast<std::uint64_t>(2 * made),
                                    .done_seconds = worked,
                                    .done_seconds_squared = worked * kStageSeconds[i],
                                    .done_cpu_seconds = worked,
                                    .done_actors = 2 * made * actors});
    }
    report.seen.trainer_steps = static_cast<std::uint64_t>(2 * made);
    return report;
  }

  std::uint32_t workers_;
  std::uint32_t threads_ = 1;
};

TEST_CASE("a trainer alone gets the threads that its own stages can feed beside them",
          "[tuner][cluster_threads]") {
  // Two threads train 40 splits/s and leave two CPUs, which make 40. Three could train 60, but not
  // on the same CPUs.
  TrainedCluster cluster(0);
  for (int i = 0; i < 200; ++i) cluster.decide();
  while (cluster.says("(tries")) cluster.decide();
  CHECK(cluster.advice.threads == 2);
  CHECK(cluster.rate == Approx(40).epsilon(0.05));
}

TEST_CASE("where workers can make the splits, the model's threads take the trainer's CPUs",
          "[tuner][cluster_threads]") {
  // Three threads train 60 splits/s: 20 from the CPU that they leave and the rest from the worker.
  TrainedCluster cluster(1, 3);
  std::uint32_t most_actors = 0;
  for (int i = 0; i < 160; ++i) {
    cluster.decide();
    if (cluster.advice.threads == 2) {
      most_actors = std::max(most_actors, cluster.own().total_actors());
    }
  }
  CHECK(cluster.advice.threads == 3);
  CHECK(cluster.advice.fed == 1);
  CHECK(cluster.rate == Approx(60).epsilon(0.05));
  CHECK(cluster.own().total_actors() <= most_actors);
}

TEST_CASE("the stages lose their CPUs in the decision that tries more threads",
          "[tuner][cluster_threads]") {
  // Of two CPUs beside two threads, the third one takes one: the stages' half of 40 splits/s.
  TrainedCluster cluster(1, 3);
  while (!(cluster.advice.threads == 2 && !cluster.says("tries"))) cluster.decide();
  double before = 0;
  while (cluster.advice.threads == 2) {
    before = cluster.advice.nodes.back().splits_per_second;
    cluster.decide();
  }
  REQUIRE(cluster.advice.threads == 3);
  CHECK(cluster.advice.nodes.back().splits_per_second < 0.7 * before);
}

TEST_CASE("what the stages made with CPUs that they lost does not count any more",
          "[tuner][cluster_threads]") {
  // Two threads train 60 splits/s, for which the worker is fed; three train 90.
  TrainedCluster cluster(1, 3);
  cluster.per_thread = 30;
  while (!(cluster.advice.threads == 2 && cluster.advice.fed == 1)) cluster.decide();
  while (cluster.advice.threads == 2) cluster.decide();
  cluster.decide();
  REQUIRE(cluster.advice.threads == 3);
  // Of 79 splits/s, by 80 and 20 that the two can make: 63. With the 30 that the stages made before
  // it would be 53.
  CHECK(cluster.advice.nodes[0].splits_per_second > 57);
}

TEST_CASE("threads are measured from the beginning after workers were tried",
          "[tuner][cluster_threads]") {
  TrainedCluster cluster(3, 0);
  cluster.per_thread = 70;
  const auto decide = [&] {
    cluster.advice.threads = std::max(1U, cluster.advice.threads);
    cluster.decide();
  };
  while (!cluster.says("workers (tries")) decide();
  cluster.most_threads = 4;
  while (cluster.says("workers (tries")) decide();
  for (int i = 0; i < 4; ++i) {
    decide();
    CHECK(cluster.advice.threads == 1);
  }
}

TEST_CASE("workers follow the costs again with threads that are kept", "[tuner][cluster_threads]") {
  // 44 splits/s instead of 40 are no other work by themselves, but more than one node makes.
  TrainedCluster cluster(1);
  cluster.per_thread = 4;
  cluster.more = 36;
  while (!cluster.says("(tries more)")) cluster.decide();
  while (cluster.says("(tries more)")) {
    CHECK(cluster.advice.fed == 0);
    cluster.decide();
  }
  CHECK(cluster.says("(more train more)"));
  CHECK(cluster.advice.fed == 1);
}

TEST_CASE("a node that takes another's place ends a trial of threads", "[tuner][cluster_threads]") {
  TrainedCluster cluster(1);
  while (!cluster.says("(tries more)")) cluster.decide();
  CHECK(cluster.advice.threads == 2);
  cluster.prefix = "b";
  cluster.decide();
  CHECK(cluster.advice.threads == 1);
  CHECK(cluster.says("a trial was given up: nodes changed"));
}

TEST_CASE("threads and workers are never tried at the same time", "[tuner][cluster_threads]") {
  TrainedCluster cluster(GENERATE(2U, 3U, 5U, 7U));
  cluster.per_thread = GENERATE(20.0, 70.0);
  int of_threads = 0;
  int of_workers = 0;
  for (int i = 0; i < 200; ++i) {
    const ClusterAdvice before = cluster.advice;
    cluster.decide();
    const bool threads = cluster.says("(tries more)") || cluster.says("(tries fewer)");
    const bool workers = cluster.says("workers (tries");
    CHECK_FALSE((threads && workers));
    if (threads) CHECK(cluster.advice.fed == before.fed);
    if (workers) CHECK(cluster.advice.threads == before.threads);
    of_threads += threads ? 1 : 0;
    of_workers += workers ? 1 : 0;
  }
  CHECK(of_threads > 0);
  CHECK(of_workers > 0);
}

TEST_CASE("a trainer that waits is given no more threads", "[tuner][cluster_threads]") {
  // A single actor that decodes makes 25 splits/s; one thread trains 20, and is fed.
  TrainedCluster cluster(0, 4);
  for (int i = 0; i < 60; ++i) {
    cluster.advice.nodes[0].allocation.actors = {1, 1};
    if (i < 8) cluster.advice.threads = 2;  // Not yet advised: the model's own number.
    cluster.decide();
    CHECK(cluster.advice.threads <= 2);
  }
}

TEST_CASE("without threads that may change the advice names none", "[tuner][cluster_threads]") {
  TrainedCluster cluster(1, 0);
  for (int i = 0; i < 40; ++i) {
    cluster.decide();
    CHECK(cluster.advice.threads == 0);
    cluster.advice.threads = 1;
    CHECK_FALSE(cluster.says("threads"));
  }
}

}  // namespace
}  // namespace forebay::tuner
