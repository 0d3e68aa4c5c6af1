#include "actors/stage/stage_queues.h"

#include <array>
#include <vector>

#include "tests/support/catch.h"

namespace forebay {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Both sides wait in turns, and half of the CPUs are idle.
constexpr HandOver kBursts{
    .seconds = 0.1, .blocked = 0.3, .starved = 0.3, .idle_cpus = 0.5, .fill = 1};

void repeat(QueueDepth& depth, const HandOver& interval, double for_seconds) {
  for (double passed = 0; passed < for_seconds; passed += interval.seconds) depth.observe(interval);
}

QueueDepth grown() {
  QueueDepth depth;
  repeat(depth, kBursts, 10);
  return depth;
}

/// The totals of a pool whose actor waited so long for splits, and for space, in some time.
PoolStats pool_of(milliseconds passed, milliseconds wait_input, milliseconds wait_output) {
  PoolStats pool;
  pool.mailbox_bytes = 1000;
  pool.queued_bytes = 1000;
  pool.totals.wait_input = wait_input;
  pool.totals.wait_output = wait_output;
  pool.totals.busy = passed - wait_input - wait_output;
  return pool;
}

/// Three pools that hand on to each other. Of each second the first waits 0.4 s for space, the
/// second 0.4 s for splits and never for space, the third 0.4 s for splits.
std::vector<PoolStats> pools_after(milliseconds passed) {
  const milliseconds part = 2 * passed / 5;
  return {pool_of(passed, milliseconds(0), part), pool_of(passed, part, milliseconds(0)),
          pool_of(passed, part, milliseconds(0))};
}

struct Given {
  double cpus = 2;
  std::vector<std::size_t> firsts = {0, 1, 2};
};

/// After five seconds in which one CPU was used.
StageQueues observed(const Given& given) {
  StageQueues queues(3, given.cpus);
  for (milliseconds now(0); now <= seconds(5); now += milliseconds(100)) {
    const std::vector<PoolStats> pools = pools_after(now);
    queues.observe({.at = now, .cpu = now, .pools = pools, .firsts = given.firsts});
  }
  return queues;
}

}  // namespace

TEST_CASE("a mailbox stays as usual where only one side waits", "[actors][stage_queues]") {
  HandOver interval = kBursts;
  interval.starved = 0;
  QueueDepth slow_consumers;
  repeat(slow_consumers, interval, 60);
  CHECK(slow_consumers.times() == 1);
  interval = kBursts;
  interval.blocked = 0;
  QueueDepth slow_producers;
  repeat(slow_producers, interval, 60);
  CHECK(slow_producers.times() == 1);
}

TEST_CASE("a mailbox doubles each half second of bursts, up to 32 times the usual one",
          "[actors][stage_queues]") {
  QueueDepth depth;
  repeat(depth, kBursts, 0.45);
  CHECK(depth.times() == 1);
  repeat(depth, kBursts, 0.25);
  CHECK(depth.times() == 2);
  repeat(depth, kBursts, 0.6);
  CHECK(depth.times() == 4);
  repeat(depth, kBursts, 10);
  CHECK(depth.times() == QueueDepth::kMost);
}

TEST_CASE("bursts in turns of some intervals count as bursts", "[actors][stage_queues]") {
  QueueDepth depth;
  HandOver blocked = kBursts;
  blocked.starved = 0;
  HandOver starved = kBursts;
  starved.blocked = 0;
  for (int i = 0; i < 10; ++i) {
    repeat(depth, blocked, 0.3);
    repeat(depth, starved, 0.3);
  }
  CHECK(depth.times() > 4);
}

TEST_CASE("where all CPUs work no mailbox grows, and a deep one shrinks",
          "[actors][stage_queues]") {
  HandOver interval = kBursts;
  interval.idle_cpus = 0;
  QueueDepth depth;
  repeat(depth, interval, 60);
  CHECK(depth.times() == 1);
  QueueDepth deep = grown();
  repeat(deep, interval, 25);
  CHECK(deep.times() < QueueDepth::kMost);
  repeat(deep, interval, 60);
  CHECK(deep.times() == 1);
}

TEST_CASE("a mailbox of which half is never used is halved, one that is used stays",
          "[actors][stage_queues]") {
  HandOver even{.seconds = 0.1, .starved = 0.2, .idle_cpus = 0.5, .fill = 0.4};
  QueueDepth unused = grown();
  repeat(unused, even, 25);
  CHECK(unused.times() < QueueDepth::kMost);
  repeat(unused, even, 60);
  CHECK(unused.times() == 1);
  even.fill = 0.6;
  QueueDepth used = grown();
  repeat(used, even, 60);
  CHECK(used.times() == QueueDepth::kMost);
}

TEST_CASE("the mailbox deepens between the pools that wait in turns alone",
          "[actors][stage_queues]") {
  const StageQueues queues = observed({});
  CHECK(queues.times(0) == 1);
  CHECK(queues.times(1) > 4);
  CHECK(queues.times(2) == 1);
  CHECK(queues.deepened() == queues.times(1) - 1);
}

TEST_CASE("a group hands on by the pool of its first stage", "[actors][stage_queues]") {
  // Stages 0 and 1 are one group; its actors wait for space in the last pool.
  const StageQueues queues = observed({.firsts = {0, 2}});
  CHECK(queues.times(1) == 1);
  CHECK(queues.times(2) > 4);
}

TEST_CASE("a mailbox is as usual again when its stage has joined another",
          "[actors][stage_queues]") {
  StageQueues queues = observed({});
  const std::vector<PoolStats> pools = pools_after(milliseconds(5100));
  queues.observe({.at = milliseconds(5100),
                  .cpu = milliseconds(5100),
                  .pools = pools,
                  .firsts = std::array<std::size_t, 2>{0, 2}});
  CHECK(queues.times(1) == 1);
}

TEST_CASE("without a number of CPUs every mailbox stays as usual", "[actors][stage_queues]") {
  CHECK(observed({.cpus = 0}).deepened() == 0);
  CHECK(observed({.cpus = 1}).deepened() == 0);  // all of it was used
}

TEST_CASE("queues are looked at ten times a second", "[actors][stage_queues]") {
  const StageQueues queues = observed({});
  CHECK_FALSE(queues.due(milliseconds(5099)));
  CHECK(queues.due(milliseconds(5100)));
  CHECK(StageQueues(3, 1).due(milliseconds(0)));
}

}  // namespace forebay
