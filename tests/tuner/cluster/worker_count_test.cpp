#include "tuner/cluster/worker_count.h"

#include <algorithm>
#include <cstdint>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

/// A cluster in which `needed` workers bring the whole rate and fewer their share.
struct Cluster {
  std::uint32_t needed = 6;
  std::uint32_t planned = 15;
  std::uint32_t least = 3;
  double demand = 100;
  bool limited = false;  ///< The trainer waits all the time: something shared is the limit.

  CountSeen seen(std::uint32_t fed) const {
    const double share = std::min(1.0, static_cast<double>(fed) / needed);
    return {.planned = planned,
            .least = least,
            .available = 15,
            .wanted = limited ? 60.0 : demand,
            .demand = demand,
            .rate = share * (limited ? 60 : demand),
            .waited = limited ? 0.4 : 1 - share};
  }
};

std::uint32_t after(WorkerCount& count, const Cluster& cluster, std::uint32_t fed, int periods) {
  for (int i = 0; i < periods; ++i) fed = count.decide(cluster.seen(fed));
  return fed;
}

TEST_CASE("the number of workers begins with what the costs say", "[tuner][worker_count]") {
  WorkerCount count;
  const Cluster cluster{.planned = 8};
  CHECK(after(count, cluster, 15, 1) == 8);
}

TEST_CASE("workers that bring nothing are not fed for long, whatever the costs say",
          "[tuner][worker_count]") {
  const bool limited = GENERATE(false, true);
  WorkerCount count;
  const Cluster cluster{.limited = limited};
  const std::uint32_t fed = after(count, cluster, 15, 70);
  CAPTURE(limited, fed);
  CHECK(count.settled() == 6);
}

TEST_CASE("workers that are held stay, and are measured anew afterwards", "[tuner][worker_count]") {
  WorkerCount count;
  const Cluster cluster{.needed = 2, .planned = 4};
  std::uint32_t fed = after(count, cluster, 15, 6);
  CHECK(fed == 4);
  CHECK(count.rests());
  CountSeen held = cluster.seen(fed);
  held.held = true;
  for (int i = 0; i < 30; ++i) CHECK(count.decide(held) == 4);
  CountSeen nothing = held;  // A trainer that paused for an interval took no split.
  nothing.wanted = nothing.rate = 0;
  CHECK(count.decide(nothing) == 4);
  // Two intervals that settle and three that count before fewer are tried.
  CHECK(after(count, cluster, fed, 4) == 4);
  CHECK(after(count, cluster, fed, 1) < 4);
  CHECK_FALSE(count.rests());
  held.available = 1;  // Workers that are gone are not held.
  CHECK(count.decide(held) == 1);
}

TEST_CASE("another work begins with what the costs say", "[tuner][worker_count]") {
  WorkerCount count;
  std::uint32_t fed = after(count, {.needed = 2, .planned = 4}, 15, 40);
  CHECK(count.settled() == 2);
  CountSeen other = Cluster{.needed = 9, .planned = 9}.seen(fed);
  other.renewed = true;
  CHECK(count.decide(other) == 9);
  CHECK_FALSE(count.rests());  // Its costs are not known yet.
}

TEST_CASE("more workers are tried while the trainer waits", "[tuner][worker_count]") {
  WorkerCount count;
  const Cluster cluster{.needed = 9, .planned = 5};
  static_cast<void>(after(count, cluster, 15, 60));
  CHECK(count.settled() == 9);
}

TEST_CASE("a try of fewer workers that loses much ends after its first interval",
          "[tuner][worker_count]") {
  WorkerCount count;
  const Cluster cluster{.needed = 2, .planned = 2, .least = 1};
  std::uint32_t fed = 15;
  int tried = 0;
  for (int i = 0; i < 40; ++i) {
    fed = count.decide(cluster.seen(fed));
    tried += fed == 1 ? 1 : 0;
  }
  CHECK(count.settled() == 2);
  CHECK(tried <= 6);  // Two tries: two intervals to settle, and one that is judged, each.
}

TEST_CASE("workers that make what is expected are not taken from a trainer that waits",
          "[tuner][worker_count]") {
  WorkerCount count;
  for (int i = 0; i < 60; ++i) {
    const CountSeen seen{.planned = 3,
                         .least = 3,
                         .available = 3,
                         .wanted = 60,
                         .demand = 100,
                         .able = 62,
                         .rate = 60,
                         .waited = 0.4};
    CHECK(count.decide(seen) == 3);
  }
}

TEST_CASE("before anything was made all workers are fed", "[tuner][worker_count]") {
  WorkerCount count;
  CHECK(count.decide({.planned = 2, .least = 1, .available = 7}) == 7);
}

TEST_CASE("an interval without a split changes neither the number nor what is tried",
          "[tuner][worker_count]") {
  const bool trying = GENERATE(false, true);
  WorkerCount count;
  const Cluster cluster{.needed = 4, .planned = 8};
  std::uint32_t fed = after(count, cluster, 15, 4);
  while (count.rests() == trying || (!trying && fed > 4)) fed = count.decide(cluster.seen(fed));
  CAPTURE(trying, fed);
  CountSeen nothing = cluster.seen(fed);
  nothing.wanted = nothing.rate = nothing.waited = 0;
  for (int i = 0; i < 30; ++i) CHECK(count.decide(nothing) == fed);
  CHECK(count.rests() != trying);
  static_cast<void>(after(count, cluster, fed, 60));
  CHECK(count.settled() == 4);
}

TEST_CASE("where the trainer waits for long and nothing is made all workers are fed",
          "[tuner][worker_count]") {
  WorkerCount count;
  const Cluster cluster{.needed = 2, .planned = 2};
  const std::uint32_t fed = after(count, cluster, 15, 10);
  CHECK(fed == 2);
  CountSeen nothing = cluster.seen(fed);
  nothing.wanted = nothing.rate = 0;
  nothing.waited = 0.9;
  for (int i = 0; i < 19; ++i) CHECK(count.decide(nothing) == 2);
  CHECK(count.decide(nothing) == 15);
  CHECK(count.settled() == 15);
}

TEST_CASE("a node that came is fed though nothing is made", "[tuner][worker_count]") {
  WorkerCount count;
  const Cluster cluster{.needed = 2, .planned = 2};
  CountSeen nothing = cluster.seen(after(count, cluster, 15, 10));
  nothing.wanted = nothing.rate = 0;
  nothing.available = 16;
  CHECK(count.decide(nothing) == 16);
}

TEST_CASE("a trainer that begins to wait after a long time gets more workers at once",
          "[tuner][worker_count]") {
  WorkerCount count;
  Cluster cluster{.needed = 4, .planned = 4};
  std::uint32_t fed = after(count, cluster, 15, 2000);
  CHECK(fed == 4);
  cluster.needed = 5;  // Each of them makes less; the trainer would take as much.
  fed = after(count, cluster, fed, 10);
  CHECK(fed >= 5);
  CHECK(after(count, cluster, fed, 60) == 5);
}

}  // namespace
}  // namespace forebay::tuner
