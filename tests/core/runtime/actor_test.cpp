#include "core/runtime/actor.h"

#include "tests/core/runtime/actor_fixture.h"
#include "tests/support/test_host.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using namespace test;

struct ActorFixture {
  TestHost host;
  Notes notes;
  TallyActor::Ref tally = host.spawn({.name = "tally"}, make_tally());
  WitnessActor::Ref witness =
      host.spawn({.name = "witness"}, [this] { return std::make_unique<WitnessActor>(notes); });

  std::int64_t sum() {
    Answer<std::int64_t> answer = ask(tally, Sum{}, 1s);
    host.deliver_all();
    return answer.wait().value();
  }
};

TEST_CASE_METHOD(ActorFixture, "an actor handles its messages one by one when they are delivered",
                 "[core][actor]") {
  REQUIRE(tally.tell(Add{1}));
  REQUIRE(tally.tell(Add{20}));
  CHECK(host.deliver_one());
  CHECK(host.deliver_one());
  CHECK_FALSE(host.deliver_one());
  CHECK(sum() == 21);
}

TEST_CASE_METHOD(ActorFixture, "a message that cannot be copied is moved to its actor",
                 "[core][actor]") {
  REQUIRE(tally.tell(Cargo{std::make_unique<std::int64_t>(7), 10}));
  CHECK(sum() == 7);
}

TEST_CASE_METHOD(ActorFixture, "a full mailbox refuses a message and leaves it to the sender",
                 "[core][actor]") {
  const auto small = host.spawn({.name = "small", .mailbox_bytes = 1000}, make_tally());
  REQUIRE(small.tell(Cargo{std::make_unique<std::int64_t>(1), 800}));
  Cargo second{std::make_unique<std::int64_t>(2), 800};
  const Status refused = small.tell(std::move(second));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kOverloaded);
  REQUIRE(second.load != nullptr);
  host.deliver_all();
  CHECK(small.tell(std::move(second)));
}

TEST_CASE_METHOD(ActorFixture, "an error that a handler returns reaches its asker, else the host",
                 "[core][actor]") {
  REQUIRE(tally.tell(Add{-1}));
  host.deliver_all();
  REQUIRE(host.unheard().size() == 1);
  CHECK(host.unheard()[0].message == "a negative amount");

  Answer<void> answer = ask(tally, Add{-1}, 1s);
  host.deliver_all();
  const Status told = answer.wait();
  REQUIRE_FALSE(told);
  CHECK(told.error().code == Code::kInvalid);
  CHECK(host.unheard().size() == 1);
  Answer<void> fine = ask(tally, Add{1}, 1s);
  host.deliver_all();
  CHECK(fine.wait());
}

TEST_CASE_METHOD(ActorFixture, "a message an actor has no handler for is kInvalid",
                 "[core][actor]") {
  const ActorRef<AskSum> forged(tally.receiver());
  REQUIRE(forged.tell(AskSum{}));
  host.deliver_all();
  REQUIRE(host.unheard().size() == 1);
  CHECK(host.unheard()[0].code == Code::kInvalid);
  CHECK(host.unheard()[0].message == "the actor has no handler for test.ask_sum/1");
}

TEST_CASE_METHOD(ActorFixture, "a question to an actor is answered as a message", "[core][ask]") {
  REQUIRE(tally.tell(Add{5}));
  REQUIRE(witness.tell(AskSum{tally, 42}));
  host.deliver_all();
  REQUIRE(notes.answers.size() == 1);
  CHECK(notes.answers[0].token == 42);
  CHECK(notes.answers[0].result.value() == 5);
}

TEST_CASE_METHOD(ActorFixture,
                 "an actor's delayed message to itself is handled when its delay has passed",
                 "[core][actor]") {
  REQUIRE(tally.tell(AddLater{100ms, 5}));
  host.deliver_all();
  host.advance(99ms);
  host.deliver_all();
  CHECK(sum() == 0);
  host.advance(1ms);
  host.deliver_all();
  CHECK(sum() == 5);
}

TEST_CASE_METHOD(ActorFixture, "a delayed message to an actor that has ended is dropped",
                 "[core][actor]") {
  REQUIRE(tally.tell(AddLater{100ms, 5}));
  tally.stop();
  host.deliver_all();
  host.advance(100ms);
  CHECK(host.deliver_all() == 0);
  CHECK(host.unheard().empty());
}

TEST_CASE_METHOD(ActorFixture, "a question is kTimeout at its deadline, and only then",
                 "[core][ask]") {
  REQUIRE(witness.tell(AskSum{tally, 1}));
  REQUIRE(host.deliver_one());  // The witness has asked; the tally has not answered.
  host.advance(999ms);
  CHECK(notes.answers.empty());
  Answer<std::int64_t> late = ask(tally, Sum{}, 1ms);
  host.advance(1ms);
  CHECK(late.ready());
  CHECK(late.wait().error().code == Code::kTimeout);
  host.deliver_all();  // The tally's answer is late; the timeout is delivered.
  REQUIRE(notes.answers.size() == 1);
  REQUIRE_FALSE(notes.answers[0].result);
  CHECK(notes.answers[0].result.error().code == Code::kTimeout);
  host.advance(1h);
  host.deliver_all();
  CHECK(notes.answers.size() == 1);
}

TEST_CASE_METHOD(ActorFixture, "an answered question has no deadline any more", "[core][ask]") {
  REQUIRE(witness.tell(AskSum{tally, 1}));
  host.deliver_all();
  host.advance(1h);
  host.deliver_all();
  REQUIRE(notes.answers.size() == 1);
  CHECK(notes.answers[0].result);
}

TEST_CASE_METHOD(ActorFixture, "a question to an actor that ends first is kUnavailable",
                 "[core][ask]") {
  REQUIRE(tally.tell(Finish{}));
  Answer<std::int64_t> answer = ask(tally, Sum{}, 1s);
  host.deliver_all();
  CHECK(answer.wait().error().code == Code::kUnavailable);
  Answer<std::int64_t> dead = ask(tally, Sum{}, 1s);
  CHECK(dead.wait().error().code == Code::kNotFound);
  Answer<std::int64_t> nobody = ask(TallyActor::Ref(), Sum{}, 1s);
  CHECK(nobody.wait().error().code == Code::kNotFound);
}

TEST_CASE_METHOD(ActorFixture, "a stopped actor handles the messages that were queued before",
                 "[core][actor]") {
  watch(tally, witness);
  REQUIRE(tally.tell(Add{3}));
  Answer<std::int64_t> before = ask(tally, Sum{}, 1s);
  tally.stop();
  Answer<std::int64_t> behind = ask(tally, Sum{}, 1s);
  host.deliver_all();
  CHECK(before.wait().value() == 3);
  CHECK(behind.wait().error().code == Code::kUnavailable);
  REQUIRE(notes.downs.size() == 1);
  CHECK(notes.downs[0].actor == tally.id());
  CHECK_FALSE(notes.downs[0].crash);
  CHECK(tally.tell(Add{1}).error().code == Code::kNotFound);
}

TEST_CASE_METHOD(ActorFixture, "an actor that crashes starts again as often as its limit says",
                 "[core][supervisor]") {
  const auto fragile =
      host.spawn({.name = "fragile", .restart = {.restarts = 2, .period = 1min}}, make_tally());
  watch(fragile, witness);
  const auto crash = [&] {
    Answer<void> answer = ask(fragile, Break{}, 1s);
    host.deliver_all();
    return answer.wait().error();
  };
  REQUIRE(fragile.tell(Add{9}));
  CHECK(crash() == Error{Code::kUnavailable, "it broke"});
  Answer<std::int64_t> fresh = ask(fragile, Sum{}, 1s);
  REQUIRE(fragile.tell(Break{}));
  REQUIRE(fragile.tell(Add{4}));  // Queued during the second restart.
  Answer<std::int64_t> kept = ask(fragile, Sum{}, 1s);
  host.deliver_all();
  CHECK(fresh.wait().value() == 0);  // State does not survive, queued messages do.
  CHECK(kept.wait().value() == 4);
  CHECK(notes.downs.empty());

  SECTION("the third crash within the period is death") {
    host.advance(59s);
    crash();
    REQUIRE(notes.downs.size() == 1);
    REQUIRE(notes.downs[0].crash);
    CHECK(notes.downs[0].crash->message == "it broke");
    CHECK(fragile.tell(Add{1}).error().code == Code::kNotFound);
  }
  SECTION("the third crash after the period is not") {
    host.advance(60s);
    crash();
    CHECK(notes.downs.empty());
    CHECK(fragile.tell(Add{1}));
  }
}

TEST_CASE_METHOD(ActorFixture, "an actor that cannot be constructed ends after its last restart",
                 "[core][supervisor]") {
  int tries = 0;
  const auto stillborn = host.spawn({.name = "stillborn", .restart = {.restarts = 3}},
                                    [&tries]() -> std::unique_ptr<TallyActor> {
                                      ++tries;
                                      throw std::runtime_error("no memory");
                                    });
  watch(stillborn, witness);
  REQUIRE(stillborn.tell(Add{1}));
  host.deliver_all();
  CHECK(tries == 4);
  REQUIRE(notes.downs.size() == 1);
  CHECK(notes.downs[0].crash->message == "no memory");
}

TEST_CASE_METHOD(ActorFixture, "a watcher of an actor that has ended is notified at once",
                 "[core][supervisor]") {
  REQUIRE(tally.tell(Finish{}));
  host.deliver_all();
  watch(tally, witness);
  host.deliver_all();
  REQUIRE(notes.downs.size() == 1);
  CHECK(notes.downs[0].actor == tally.id());
}

TEST_CASE_METHOD(ActorFixture, "a host that stops ends all actors and starts no more",
                 "[core][actor]") {
  REQUIRE(tally.tell(Add{1}));
  Answer<std::int64_t> answer = ask(tally, Sum{}, 1s);

  SECTION("after the queued messages, when it drains") {
    host.host().stop_all(ActorHost::Stop::kDrain);
    host.deliver_all();
    CHECK(answer.wait().value() == 1);
  }
  SECTION("without the queued messages, when it stops now") {
    host.host().stop_all(ActorHost::Stop::kNow);
    host.deliver_all();
    CHECK(answer.wait().error().code == Code::kUnavailable);
  }
  CHECK(host.host().num_living() == 0);
  host.spawn({}, make_tally());
  host.deliver_all();
  CHECK(host.host().num_living() == 0);
}

}  // namespace
}  // namespace forebay
