#include "engine/cluster/node_capacity.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// Two stages: `load` waits 10 ms a split, `work` computes `work_ms`; one CPU, at most six actors.
class Node {
 public:
  explicit Node(bool tuned = true)
      : capacity({.stages = {{.name = "load", .max_actors = 4}, {.name = "work", .max_actors = 4}},
                  .max_actors = 6},
                 tuned) {}

  /// Two seconds pass, in which `splits` were made by so many actors of each stage.
  double interval(double splits, double busy, std::uint32_t load = 1, std::uint32_t work = 1) {
    tuner::Observation seen{.seconds = 2, .limits = {.cpus = cpus}};
    seen.stages = {{.actors = load, .working_seconds = 0.010 * splits},
                   {.actors = work, .working_seconds = work_seconds * splits}};
    seen.stages[1].cpu_seconds = cpu_seconds * splits;
    capacity.observe({.seen = seen, .splits = splits, .busy = busy});
    return capacity.splits_per_second();
  }

  NodeCapacity capacity;
  double work_seconds = 0.005;
  double cpu_seconds = 0.005;
  double cpus = 1;
};

constexpr double kReached = NodeCapacity::kUsuallyReached;

TEST_CASE("a node that is asked for little knows what it could make", "[cluster]") {
  Node node;
  CHECK(node.capacity.splits_per_second() == 0);
  // 1 CPU / 5 ms = 200 splits/s, which take two actors of `load` and one of `work`.
  CHECK(node.interval(20, 0) == Approx(200 * kReached));
  CHECK(node.interval(100, 0.3) == Approx(200 * kReached));
}

TEST_CASE("actors bound a node, too", "[cluster]") {
  Node node;
  node.work_seconds = 0.02;
  node.cpu_seconds = 0.001;
  // Four actors of `work` make 200, for which `load` takes two: six in all.
  CHECK(node.interval(20, 0) == Approx(200 * kReached));
  node.work_seconds = 0.04;  // four make 100
  for (int i = 0; i < 40; ++i) node.interval(20, 0);
  CHECK(node.interval(20, 0) == Approx(100 * kReached).epsilon(0.01));
}

TEST_CASE("a node whose actors stay makes what its slowest stage makes", "[cluster]") {
  Node node(false);
  CHECK(node.interval(20, 0) == Approx(100 * kReached));  // one actor of 10 ms
  CHECK(node.interval(20, 0, 2, 1) == Approx(200 * kReached));
}

TEST_CASE("a node that is busy without a change shows what it reaches", "[cluster]") {
  Node node;
  // It makes 100 of 200 splits/s, while its tuner still moves actors: not all that it could.
  CHECK(node.interval(200, 1, 1, 1) == Approx(200 * kReached));
  CHECK(node.interval(200, 1, 2, 1) == Approx(200 * kReached));
  // From here on it stands; after four intervals 100 is what it makes.
  for (int i = 0; i < 20; ++i) node.interval(200, 1, 2, 1);
  CHECK(node.interval(200, 1, 2, 1) == Approx(100).epsilon(0.01));
  // It remembers that when it is asked for less, and learns of more at once.
  CHECK(node.interval(20, 0, 2, 1) == Approx(100).epsilon(0.01));
  CHECK(node.interval(300, 0, 2, 1) == Approx(150).epsilon(0.01));
}

TEST_CASE("time that an actor waits for a CPU is no work", "[cluster]") {
  Node node;
  tuner::Observation seen{.seconds = 2, .limits = {.cpus = 1}};
  seen.stages = {{.actors = 1, .working_seconds = 1}, {.actors = 1, .working_seconds = 0.5}};
  seen.stages[0].done_seconds = 1;
  seen.stages[0].done_ready_seconds = 0.5;
  node.capacity.observe({.seen = seen, .splits = 100, .busy = 0});
  // 5 ms in each stage: six actors are three and three, 600 splits/s.
  CHECK(node.capacity.splits_per_second() == Approx(600 * kReached));
}

TEST_CASE("an interval without splits, or of another pipeline, tells nothing", "[cluster]") {
  Node node;
  CHECK(node.interval(0, 1) == 0);
  CHECK(node.interval(1, 1) == 0);
  tuner::Observation seen{.seconds = 2, .limits = {.cpus = 1}};
  node.capacity.observe({.seen = seen, .splits = 100, .busy = 0});
  CHECK(node.capacity.splits_per_second() == 0);
}

}  // namespace
}  // namespace forebay
