#include "core/runtime/executor/long_turns.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "core/runtime/actor.h"
#include "core/runtime/actor_host.h"
#include "tests/core/runtime/pool_fixture.h"
#include "tests/support/manual_clock.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using namespace test;

class NoWork final : public Resumable {
 public:
  Next resume(std::size_t) override { return Next::kAwait; }
};

/// Looks at the same turns every quarter of a second from `from` to `to`; how many were long.
std::size_t long_ones(LongTurns& turns, LongTurns::Time from, LongTurns::Time to,
                      const std::vector<SharedExecutor::RunningTurn>& running) {
  std::size_t found = 0;
  for (auto now = from; now <= to; now += LongTurns::kLookInterval) {
    found += turns.look(now, running).size();
  }
  return found;
}

TEST_CASE("a turn is long from a second after the first look at it, and is returned once",
          "[core][actor]") {
  const NoWork work;
  LongTurns turns;
  CHECK(long_ones(turns, 5s, 5s + 750ms, {{&work, 7}}) == 0);
  const auto held = turns.look(6s, {{&work, 7}});
  REQUIRE(held.size() == 1);
  CHECK(held[0].work == &work);
  CHECK(held[0].time == 1s);
  CHECK(long_ones(turns, 6s + 250ms, 9s, {{&work, 7}}) == 0);
}

TEST_CASE("each turn of an actor counts for itself", "[core][actor]") {
  const NoWork work;
  const NoWork other;
  LongTurns turns;
  CHECK(long_ones(turns, 5s, 5s + 750ms, {{&work, 7}}) == 0);
  CHECK(long_ones(turns, 6s, 6s + 750ms, {{&work, 8}, {&other, 3}}) == 0);
  CHECK(long_ones(turns, 7s, 7s, {{&work, 8}, {&other, 3}}) == 2);
}

TEST_CASE("after a gap between two looks, as when the process was stopped, turns count anew",
          "[core][actor]") {
  const NoWork work;
  LongTurns turns;
  CHECK(long_ones(turns, 5s, 5s + 750ms, {{&work, 7}}) == 0);
  CHECK(long_ones(turns, 60s, 60s + 750ms, {{&work, 7}}) == 0);
  CHECK(long_ones(turns, 61s, 61s, {{&work, 7}}) == 1);
}

struct Block {
  static constexpr std::string_view kTag = "test.block/1";
};

/// Counts that it has begun, then blocks its thread until the gate opens.
class BlockingActor final : public ActorOf<BlockingActor, Block> {
 public:
  BlockingActor(std::atomic<int>& begun, Gate& gate) : begun_(begun), gate_(gate) {}
  Status on(const Block&, Context&) {
    ++begun_;
    gate_.pass();
    return {};
  }

 private:
  std::atomic<int>& begun_;
  Gate& gate_;
};

/// A host of actors whose timers and clock the test moves, with real threads.
struct Watched {
  Watched() : watch(host, executor, [this](const std::string& line) { said.push_back(line); }) {}
  ~Watched() {
    gate.open();
    host.stop_all(ActorHost::Stop::kNow);
    host.wait_until_empty();
  }

  auto spawn(const std::string& name, Placement placement) {
    return host.spawn({.name = name, .placement = placement},
                      [this] { return std::make_unique<BlockingActor>(begun, gate); });
  }
  void pass(LongTurns::Time time) {
    for (LongTurns::Time passed{}; passed < time; passed += LongTurns::kLookInterval) {
      clock.advance(LongTurns::kLookInterval);
      timers.fire(clock.now());
    }
  }

  Gate gate;
  std::atomic<int> begun = 0;
  std::vector<std::string> said;
  ManualClock clock;
  TimerQueue timers;
  SharedExecutor executor{{.name = "watched", .threads = 2}};
  ActorHost host{{.executor = executor, .timers = timers, .clock = clock, .on_unheard = {}}};
  TurnWatch watch;
};

TEST_CASE("actors that block every shared thread are named after a second, each once",
          "[core][actor]") {
  Watched watched;
  const auto one = watched.spawn("one", Placement::kShared);
  const auto two = watched.spawn("two", Placement::kShared);
  REQUIRE(one.tell(Block{}));
  REQUIRE(two.tell(Block{}));
  wait_until([&] { return watched.begun == 2; });
  watched.pass(1s);
  CHECK(watched.said.empty());
  watched.pass(10s);
  std::sort(watched.said.begin(), watched.said.end());
  const std::string rest =
      " has held one of the 2 threads that actors share for 1.0 s: actors that block or compute "
      "for "
      "long need a thread of their own (own_thread)";
  CHECK(watched.said == std::vector{"actor one" + rest, "actor two" + rest});
}

TEST_CASE("an actor that blocks a thread of its own is not named", "[core][actor]") {
  Watched watched;
  const auto own = watched.spawn("own", Placement::kOwnThread);
  REQUIRE(own.tell(Block{}));
  wait_until([&] { return watched.begun == 1; });
  watched.pass(5s);
  CHECK(watched.said.empty());
}

TEST_CASE("an actor that blocks a guest of the executor is named", "[core][actor]") {
  Watched watched;
  const auto actor = watched.spawn("guest's", Placement::kShared);
  const auto guest = watched.executor.guest();
  guest->keep([&] { REQUIRE(actor.tell(Block{})); });
  std::thread here([&] { guest->run(); });
  wait_until([&] { return watched.begun == 1; });
  watched.pass(2s);
  CHECK(watched.said.size() == 1);
  watched.gate.open();
  here.join();
  CHECK(watched.executor.running().empty());
}

/// Blocks its thread until the test has looked for a second, in each message.
struct Often {
  static constexpr std::string_view kTag = "test.often/1";
};

class OftenBlockingActor final : public ActorOf<OftenBlockingActor, Often> {
 public:
  OftenBlockingActor(std::atomic<int>& begun, std::atomic<int>& released)
      : begun_(begun), released_(released) {}
  Status on(const Often&, Context&) {
    const int number = ++begun_;
    wait_until([&] { return released_ >= number; });
    return {};
  }

 private:
  std::atomic<int>& begun_;
  std::atomic<int>& released_;
};

TEST_CASE("an actor that blocks a shared thread often is named at its 1st, 2nd, 4th and 8th turn",
          "[core][actor]") {
  Watched watched;
  std::atomic<int> released = 0;
  const auto actor = watched.host.spawn({.name = "often"}, [&] {
    return std::make_unique<OftenBlockingActor>(watched.begun, released);
  });
  for (int turn = 1; turn <= 9; ++turn) {
    REQUIRE(actor.tell(Often{}));
    wait_until([&] { return watched.begun == turn; });
    watched.pass(1s + LongTurns::kLookInterval);
    ++released;
    wait_until([&] { return watched.executor.running().empty(); });
  }
  REQUIRE(watched.said.size() == 4);
  CHECK(watched.said[0].find(", as ") == std::string::npos);
  CHECK(watched.said[3].find("for 1.0 s, as 7 times before: ") != std::string::npos);
}

}  // namespace
}  // namespace forebay
