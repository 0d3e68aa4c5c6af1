#include "core/runtime/own_threads.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/thread/start_thread.h"
#include "core/runtime/ask.h"
#include "core/runtime/synchronized.h"
#include "tests/core/runtime/actor_fixture.h"
#include "tests/support/manual_clock.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using namespace test;

struct AskGroup {
  static constexpr std::string_view kTag = "test.ask_group/1";
  using Reply = std::shared_ptr<ThreadGroup>;
};

/// Answers after its gate has opened.
struct AskSlowly {
  static constexpr std::string_view kTag = "test.ask_slowly/1";
  using Reply = int;
};

class SlowActor final : public ActorOf<SlowActor, AskGroup, AskSlowly> {
 public:
  SlowActor(Latch& begun, Latch& gate) : begun_(begun), gate_(gate) {}
  Result<std::shared_ptr<ThreadGroup>> on(const AskGroup&, Context&) {
    return ThreadGroup::current();
  }
  Result<int> on(const AskSlowly&, Context&) {
    begun_.open();
    gate_.wait();
    return 7;
  }

 private:
  Latch& begun_;
  Latch& gate_;
};

TEST_CASE("an actor with a thread of its own belongs to the thread group of the caller",
          "[core][actor]") {
  const ManualClock clock;
  Latch begun;
  Latch gate;
  const auto group = std::make_shared<ThreadGroup>();
  const ThreadGroup::Member member(group);
  OwnThreads threads(clock);
  const auto actor =
      threads.spawn({.name = "a"}, [&] { return std::make_unique<SlowActor>(begun, gate); });
  CHECK(ask(actor, AskGroup{}).wait().value() == group);
}

TEST_CASE("the end of the threads waits for the message under way and refuses the rest",
          "[core][actor]") {
  const ManualClock clock;
  Latch begun;
  Latch gate;
  std::optional<OwnThreads> threads(clock);
  // Made when it is told to stop, which is after the newer actor was told.
  threads->spawn({.name = "opens the gate"}, [&] {
    gate.open();
    return std::make_unique<TallyActor>();
  });
  const auto actor =
      threads->spawn({.name = "a"}, [&] { return std::make_unique<SlowActor>(begun, gate); });
  auto first = ask(actor, AskSlowly{});
  auto second = ask(actor, AskSlowly{});
  begun.wait();
  CHECK_FALSE(first.ready(1ns));
  threads.reset();
  CHECK(first.ready());
  CHECK(first.wait().value() == 7);
  CHECK(second.wait().error().code == Code::kUnavailable);
  CHECK(ask(actor, AskSlowly{}).wait().error().code == Code::kNotFound);
  CHECK(ask(decltype(actor)(), AskSlowly{}).wait().error().code == Code::kNotFound);
}

TEST_CASE("a crash is reported before the actor starts again, and at its end", "[core][actor]") {
  const ManualClock clock;
  std::vector<std::string> crashes;
  OwnThreads threads(clock);
  const auto actor =
      threads.spawn({.name = "a",
                     .restart = {.restarts = 1},
                     .on_crash = [&](const Error& crash) { crashes.push_back(crash.message); }},
                    make_tally());
  CHECK(ask(actor, Break{}).wait().error().message == "it broke");
  REQUIRE(actor.tell(Add{5}));
  CHECK(ask(actor, Sum{}).wait().value() == 5);
  CHECK(ask(actor, Break{}).wait().error().message == "it broke");
  CHECK_FALSE(ask(actor, Sum{}).wait());
  CHECK(crashes == std::vector<std::string>{"it broke", "it broke"});
}

}  // namespace
}  // namespace forebay
