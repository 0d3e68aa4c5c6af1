#include <atomic>
#include <thread>

#include "core/runtime/actor_host.h"
#include "tests/core/runtime/actor_fixture.h"
#include "tests/core/runtime/pool_fixture.h"
#include "tests/support/manual_clock.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using namespace test;

struct Numbered {
  static constexpr std::string_view kTag = "test.numbered/1";
  std::uint64_t sender = 0;
  std::uint64_t number = 0;
};

/// Records each sender's numbers and those that arrive out of turn.
class OrderActor final : public ActorOf<OrderActor, Numbered> {
 public:
  OrderActor(std::atomic<std::uint64_t>& seen, std::atomic<std::uint64_t>& wrong)
      : seen_(seen), wrong_(wrong) {}

  Status on(const Numbered& message, Context&) {
    if (message.number != next_.at(message.sender)++) wrong_.fetch_add(1);
    seen_.fetch_add(1);
    return {};
  }

 private:
  std::vector<std::uint64_t> next_ = std::vector<std::uint64_t>(4, 0);
  std::atomic<std::uint64_t>& seen_;
  std::atomic<std::uint64_t>& wrong_;
};

TEST_CASE("messages of one thread reach an actor in their order, each once", "[core][actor]") {
  const auto placement = GENERATE(Placement::kShared, Placement::kOwnThread);
  constexpr std::uint64_t kEach = 5000;
  const SystemClock clock;
  std::atomic<std::uint64_t> seen{0};
  std::atomic<std::uint64_t> wrong{0};
  ActorSystem system({}, clock);
  const auto receiver =
      system.spawn({.name = "order", .mailbox_bytes = 4096, .placement = placement},
                   [&] { return std::make_unique<OrderActor>(seen, wrong); });
  std::vector<std::thread> senders;
  for (std::uint64_t sender = 0; sender < 4; ++sender) {
    senders.emplace_back([&, sender] {
      for (std::uint64_t number = 0; number < kEach;) {
        const Status told = receiver.tell(Numbered{sender, number});
        if (told) {
          ++number;
        } else {
          CHECK(told.error().code == Code::kOverloaded);
          std::this_thread::yield();
        }
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  system.shutdown(ActorHost::Stop::kDrain);
  CHECK(seen == 4 * kEach);
  CHECK(wrong == 0);
  CHECK(system.num_living() == 0);
}

struct Hop {
  static constexpr std::string_view kTag = "test.hop/1";
  std::uint64_t left = 0;
};

/// Passes a hop on to the next of a ring.
class RingActor final : public ActorOf<RingActor, Hop, AskSum> {
 public:
  RingActor(std::vector<ActorRef<Hop>>& ring, std::size_t place, std::atomic<int>& arrived)
      : ring_(ring), place_(place), arrived_(arrived) {}

  Status on(const Hop& hop, Context& context) {
    if (hop.left == 0) {
      arrived_.fetch_add(1);
      return {};
    }
    return context.tell(ring_[(place_ + 1) % ring_.size()], Hop{hop.left - 1});
  }
  Status on(const AskSum&, Context&) { return {}; }

 private:
  const std::vector<ActorRef<Hop>>& ring_;
  const std::size_t place_;
  std::atomic<int>& arrived_;
};

TEST_CASE("many actors on few threads all get their turn", "[core][actor]") {
  const SystemClock clock;
  std::vector<ActorRef<Hop>> ring;
  std::atomic<int> arrived{0};
  ActorSystem system({.executor = {.name = "ring", .threads = 3}, .on_unheard = {}}, clock);
  for (std::size_t place = 0; place < 50; ++place) {
    const auto placement = place % 10 == 0 ? Placement::kOwnThread : Placement::kShared;
    ring.push_back(system.spawn({.name = "ring", .placement = placement}, [&, place] {
      return std::make_unique<RingActor>(ring, place, arrived);
    }));
  }
  for (std::size_t place = 0; place < 20; ++place) REQUIRE(ring[place].tell(Hop{2000}));
  wait_until([&] { return arrived == 20; });
}

TEST_CASE("no actor is left after actors started and ended on many threads", "[core][actor]") {
  const SystemClock clock;
  ActorSystem system({}, clock);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const auto tally = system.spawn({.name = "brief"}, make_tally());
        CHECK(tally.tell(Finish{}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  wait_until([&] { return system.num_living() == 0; });
}

TEST_CASE("a thread that asks gets the answer of an actor, wherever it runs", "[core][ask]") {
  const auto placement = GENERATE(Placement::kShared, Placement::kOwnThread);
  const SystemClock clock;
  ActorSystem system({}, clock);
  const auto tally = system.spawn({.name = "tally", .placement = placement}, make_tally());
  std::vector<std::thread> askers;
  for (int thread = 0; thread < 3; ++thread) {
    askers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        CHECK(ask(tally, Add{1}, 1h).wait());
        CHECK(ask(tally, Sum{}, 1h).wait().value() > i);
      }
    });
  }
  for (std::thread& asker : askers) asker.join();
  CHECK(ask(tally, Sum{}, 1h).wait().value() == 600);
}

/// Blocks its thread until the gate opens.
class StuckActor final : public ActorOf<StuckActor, Sum, Finish> {
 public:
  explicit StuckActor(Gate& gate) : gate_(gate) {}
  Result<std::int64_t> on(const Sum&, Context&) {
    gate_.pass();
    return 1;
  }
  Status on(const Finish&, Context&) { return {}; }

 private:
  Gate& gate_;
};

/// Counts what it handles, and what of it on the test's thread; may take time.
class WhereActor final : public ActorOf<WhereActor, Numbered> {
 public:
  WhereActor(std::atomic<int>& handled, std::atomic<int>& here, std::chrono::microseconds takes)
      : handled_(handled), here_(here), takes_(takes) {}

  Status on(const Numbered&, Context& context) {
    if (std::this_thread::get_id() == test_) ++here_;
    const auto end = context.clock().now() + takes_;
    while (context.clock().now() < end) std::this_thread::yield();
    ++handled_;
    return {};
  }

 private:
  const std::thread::id test_ = std::this_thread::get_id();  // of the thread that makes it
  std::atomic<int>& handled_;
  std::atomic<int>& here_;
  const std::chrono::microseconds takes_;
};

TEST_CASE("a guest of an executor runs an actor that it wakes, for a short time", "[core][actor]") {
  const SystemClock clock;
  ActorSystem system({}, clock);
  std::atomic<int> handled = 0;
  std::atomic<int> here = 0;
  const bool slow = GENERATE(false, true);
  const auto actor = system.spawn({.name = "where"}, [&] {
    return std::make_unique<WhereActor>(handled, here, slow ? 1ms : 0ms);
  });
  const auto guest = system.host().executor().guest();
  guest->keep([&] {
    for (int i = 0; i < 16; ++i) REQUIRE(actor.tell(Numbered{}));
  });
  CHECK(handled == 0);
  REQUIRE(guest->has_work());
  guest->run();
  CHECK_FALSE(guest->has_work());
  CHECK(here >= 8);
  if (slow) CHECK(here == 8);  // The first turn took longer than the limit: other threads go on.
  wait_until([&] { return handled == 16; });
  guest->keep([&] { REQUIRE(actor.tell(Numbered{})); });
  guest->pass_on();
  CHECK_FALSE(guest->has_work());
  wait_until([&] { return handled == 17; });
  if (slow) CHECK(here == 8);
  system.shutdown(ActorHost::Stop::kDrain);
}

TEST_CASE("a thread that asks an actor that is stuck gets kTimeout", "[core][ask]") {
  const SystemClock clock;
  Gate gate;
  ActorSystem system({}, clock);
  const auto stuck = system.spawn({.name = "stuck", .placement = Placement::kOwnThread},
                                  [&] { return std::make_unique<StuckActor>(gate); });
  CHECK(ask(stuck, Sum{}, 1ms).wait().error().code == Code::kTimeout);
  gate.open();
  CHECK(ask(stuck, Sum{}, 1h).wait().value() == 1);
}

TEST_CASE("a system that stops now answers all waiting askers", "[core][ask]") {
  const SystemClock clock;
  Gate gate;
  std::optional<ActorSystem> system;
  system.emplace(ActorSystem::Options{}, clock);
  const auto stuck =
      system->spawn({.name = "stuck"}, [&] { return std::make_unique<StuckActor>(gate); });
  Answer<std::int64_t> first = ask(stuck, Sum{}, 1h);
  Answer<std::int64_t> second = ask(stuck, Sum{}, 1h);
  std::thread stopping([&] { system.reset(); });
  gate.open();
  stopping.join();
  static_cast<void>(first.wait());  // Answered, or refused before it began.
  CHECK(second.ready());
  CHECK(stuck.tell(Finish{}).error().code == Code::kNotFound);
}

}  // namespace
}  // namespace forebay
