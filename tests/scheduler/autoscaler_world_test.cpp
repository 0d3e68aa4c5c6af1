#include <cmath>
#include <string>

#include "core/base/random.h"
#include "tests/scheduler/scaled_world.h"

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

using test::ScaledWorld;

enum class Limit : std::uint8_t { kNone, kLink, kStore };

/// A world drawn by its number: sizes, speeds, limits, noise, and how well the launcher obeys.
ScaledWorld::Options drawn(std::uint64_t number, Limit limit) {
  Random random(mix64(number, static_cast<std::uint64_t>(limit)));
  ScaledWorld::Options world{.seed = number};
  world.worker = 5 + 95 * random.uniform();
  const double need = 0.5 + (random.below(2) == 0 ? 6 : 30) * random.uniform();
  world.local = random.below(2) == 0 ? 0 : 2 * world.worker * random.uniform();
  world.demand = world.worker * need + world.local;
  world.spread = random.below(2) == 0 ? 0 : 0.2 * random.uniform();
  world.noise = 0.08 * random.uniform();
  world.wrong = 0.1 * random.uniform();
  world.delay = static_cast<int>(random.below(3));
  world.workers = random.below(3) == 0 ? 0 : random.below(40);
  const double share = 0.2 + 0.7 * random.uniform();
  if (limit == Limit::kLink) world.link = share * need * world.worker;
  if (limit == Limit::kStore) world.store = share * need * world.worker;
  return world;
}

/// The most workers that count as right: 15 % more than the fewest, or one more.
std::uint32_t right(const ScaledWorld& world) {
  return std::max(world.fewest() + 1, static_cast<std::uint32_t>(std::ceil(1.15 * world.fewest())));
}

struct Outcome {
  std::uint32_t here = 0;  ///< Workers at the end.
  std::uint32_t most = 0;  ///< The most that were asked for.
  int changes = 0;         ///< In the ten minutes after the first ones.
  double rate = 0;         ///< Splits/s at the end.
};

/// The intervals in which it may change the number of workers: two minutes.
constexpr int kFirst = 60;
/// The same where splits reach the trainer in bursts.
constexpr int kFirstOfBursts = 120;

/// Ten minutes and the first ones under an autoscaler.
Outcome run(ScaledWorld& world, Autoscaler& scaler, int first = kFirst) {
  constexpr int kThen = 300;
  Outcome outcome;
  std::uint32_t before = 0;
  for (int i = 0; i < first + kThen; ++i) {
    const std::uint32_t wanted = scaler.decide(world.interval()).workers;
    world.ask(wanted);
    outcome.most = std::max(outcome.most, wanted);
    if (i > first && wanted != before) ++outcome.changes;
    before = wanted;
  }
  outcome.here = world.here();
  outcome.rate = world.rate;
  return outcome;
}

/// How many of 400 random worlds ended as they must not.
struct Bad {
  int workers = 0;
  int changes = 0;
  int runaways = 0;
};

Bad bad_of(Limit limit, std::uint32_t cap, const ScaledWorld::Options& more = {}) {
  Bad bad;
  for (std::uint64_t number = 0; number < 400; ++number) {
    ScaledWorld::Options options = drawn(number, limit);
    options.cap = cap;
    options.bursts = more.bursts;
    options.unfair = more.unfair;
    ScaledWorld world(options);
    Autoscaler scaler({.most = 1024});
    const Outcome outcome = run(world, scaler, more.bursts > 0 ? kFirstOfBursts : kFirst);
    const bool fed =
        outcome.rate >=
        0.9 * std::min(options.demand, std::min(options.link, options.store) + options.local);
    bad.workers += outcome.here > right(world) || (!fed && outcome.here < cap) ? 1 : 0;
    bad.changes += outcome.changes > 0 ? 1 : 0;
    const std::uint32_t bound = 4 * std::max(world.fewest(), 1U) + 2 * options.workers;
    bad.runaways += outcome.most > std::max(bound, 12U) ? 1 : 0;
  }
  return bad;
}

TEST_CASE("in random worlds the workers settle at the fewest that feed the trainer",
          "[scheduler][autoscaler_world]") {
  const Bad bad = bad_of(Limit::kNone, 1000);
  CHECK(bad.workers <= 4);  // one in a hundred: by noise and what workers misjudge
  CHECK(bad.changes <= 2);
  CHECK(bad.runaways == 0);
}

TEST_CASE("in random worlds no worker is useless behind a link at its limit",
          "[scheduler][autoscaler_world]") {
  const Bad bad = bad_of(Limit::kLink, 1000);
  CHECK(bad.workers <= 4);
  CHECK(bad.changes <= 2);
  CHECK(bad.runaways == 0);
}

TEST_CASE("in random worlds the fewest workers that take all of a store are found",
          "[scheduler][autoscaler_world]") {
  const Bad bad = bad_of(Limit::kStore, 1000);
  CHECK(bad.workers <= 12);  // a search among noisy rates may stop early
  CHECK(bad.changes <= 2);
  CHECK(bad.runaways <= 2);
}

TEST_CASE("behind a shared limit workers settle though splits reach the trainer in bursts",
          "[scheduler][autoscaler_world]") {
  const Bad bad = bad_of(Limit::kStore, 1000, {.bursts = 0.4, .unfair = 0.5});
  // Few are still searching after four minutes.
  CHECK(bad.workers <= 12);
  CHECK(bad.changes <= 60);
  CHECK(bad.runaways <= 8);
}

TEST_CASE("a launcher that gives few workers is asked once", "[scheduler][autoscaler_world]") {
  const Bad bad = bad_of(Limit::kNone, 3);
  CHECK(bad.changes <= 2);
  CHECK(bad.runaways == 0);
}

TEST_CASE("a quarter of the demand takes a quarter of the workers within a minute",
          "[scheduler][autoscaler_world]") {
  int late = 0;
  for (std::uint64_t number = 0; number < 200; ++number) {
    ScaledWorld world(drawn(number, Limit::kNone));
    Autoscaler scaler({.most = 1024});
    run(world, scaler);
    world.now.demand = world.now.local + (world.now.demand - world.now.local) / 4;
    for (int i = 0; i < 30; ++i) world.ask(scaler.decide(world.interval()).workers);
    late += world.here() > right(world) ? 1 : 0;
  }
  CHECK(late <= 4);
}

TEST_CASE("workers that die and come back move nothing", "[scheduler][autoscaler_world]") {
  int changes = 0;
  for (std::uint64_t number = 0; number < 100; ++number) {
    ScaledWorld::Options options = drawn(number, Limit::kNone);
    options.spread = 0;
    ScaledWorld world(options);
    Autoscaler scaler({.most = 1024});
    run(world, scaler);
    world.now.deaths = 0.002;
    changes += run(world, scaler).changes > 1 ? 1 : 0;
  }
  CHECK(changes <= 5);
}

}  // namespace
}  // namespace forebay::scheduler
