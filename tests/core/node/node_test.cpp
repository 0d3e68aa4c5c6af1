#include "core/node/node_message.h"
#include "tests/core/node/node_fixture.h"
#include "tests/core/node/spawner_actor.h"
#include "tests/support/recording_handler.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using namespace test;

struct TwoTestNodes {
  TwoTestNodes() {
    REQUIRE(there.transport.listen("there"));
    REQUIRE(here.transport.connect("there"));
    run();
    far = here.node.actor<TallyRef>(here.peer(), "tally");
  }

  void run() { deliver_all(network, {&here, &there}); }

  template <class M, class Ref>
  auto answer_of(const Ref& ref, M&& message) {
    auto answer = ask(ref, std::forward<M>(message), 1s);
    run();
    here.host.advance(2s);
    return answer.wait();
  }

  std::int64_t sum_there() {
    auto answer = ask(there.tally, Sum{}, 1s);
    run();
    return answer.wait().value();
  }

  LocalNetwork network;
  TestNode there{network};
  TestNode here{network};
  TallyRef far;
};

struct NotConnected {
  LocalNetwork network;
  TestNode here{network};
};

TEST_CASE_METHOD(TwoTestNodes,
                 "a published actor of a peer takes messages and questions like a local one",
                 "[core][node]") {
  REQUIRE(far.tell(Add{5}));
  REQUIRE(far.tell(Add{20}));
  CHECK(answer_of(far, Sum{}).value() == 25);
  CHECK(sum_there() == 25);
}

TEST_CASE_METHOD(TwoTestNodes, "an error of a handler reaches an asker on another node",
                 "[core][node]") {
  const Status refused = answer_of(far, Add{-1});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInvalid);
  CHECK(refused.error().message == "a negative amount");
}

TEST_CASE_METHOD(TwoTestNodes, "frames travel inside a message", "[core][node]") {
  REQUIRE(far.tell(Cargo{{frame_of("12345"), frame_of("678")}}));
  run();
  CHECK(sum_there() == 8);
}

TEST_CASE_METHOD(TwoTestNodes,
                 "a reference in a message reaches its actor, and is the same when it is sent back",
                 "[core][node]") {
  const auto far_friend = here.node.actor<ActorRef<Introduce>>(here.peer(), "friend");
  const auto back = answer_of(far_friend, Introduce{here.tally});
  REQUIRE(back);
  CHECK(*back == TallyRef(here.tally));
  auto sum = ask(here.tally, Sum{}, 1s);
  run();
  CHECK(sum.wait().value() == 100);

  SECTION("a ref to an actor of the other side is delivered, too") {
    const auto again = answer_of(far_friend, Introduce{far});
    REQUIRE(again);
    REQUIRE(again->tell(Add{7}));
    run();
    CHECK(sum_there() == 107);
  }
  SECTION("and a question about an empty reference is answered as not found") {
    const auto nobody = answer_of(far_friend, Introduce{TallyRef()});
    REQUIRE_FALSE(nobody);
    CHECK(nobody.error().code == Code::kNotFound);
  }
}

TEST_CASE_METHOD(TwoTestNodes, "a failed delivery is answered to an asker and counted for a sender",
                 "[core][node]") {
  SECTION("an actor that was never published") {
    const auto nobody = here.node.actor<TallyRef>(here.peer(), "nobody");
    REQUIRE(nobody.tell(Add{1}));
    CHECK(answer_of(nobody, Sum{}).error().code == Code::kNotFound);
    CHECK(there.node.counts().unknown_actor == 2);
  }
  SECTION("a message that its ref did not list") {
    const ActorRef<Introduce> forged(far.receiver());
    CHECK(answer_of(forged, Introduce{}).error().code == Code::kInvalid);
    CHECK(there.node.counts().unknown_message == 1);
  }
  SECTION("a message that cannot be encoded") {
    const ActorRef<Local> forged(far.receiver());
    const Status refused = forged.tell(Local{});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kInvalid);
  }
  SECTION("a full mailbox") {
    for (int i = 0; i < 100; ++i) REQUIRE(far.tell(Add{1}));
    network.deliver_all();
    auto answer = ask(far, Sum{}, 1s);
    network.deliver_all();
    const std::uint64_t refused = there.node.counts().refused;
    CHECK(refused > 50);
    CHECK(answer.wait().error().code == Code::kOverloaded);
    run();
    CHECK(sum_there() == 100 - static_cast<std::int64_t>(refused - 1));
  }
  SECTION("bytes that are not a message") {
    const std::string type = [] {
      WireBuffer buffer;
      write_head(buffer, NodeMessage::kAsk, published_target("tally"), tag_number(Add::kTag), 1);
      return text_of(buffer.bytes());
    }();
    for (const std::string& bytes : {std::string(), std::string("\x09"), std::string("\x01short"),
                                     type, type + "\xc1", type + "\x91\xa1x"}) {
      REQUIRE(here.transport.send(here.peer(), Lane::kControl, bytes_of_text(bytes), {}));
    }
    run();
    CHECK(there.node.counts().undecodable == 6);
    CHECK(sum_there() == 0);
  }
}

TEST_CASE_METHOD(TwoTestNodes,
                 "when the session ends every question is answered and every ref dead",
                 "[core][node]") {
  auto open = ask(far, Sum{}, 1h);
  here.transport.close(here.peer(), "the cable is out");
  run();
  CHECK(open.wait().error().code == Code::kUnavailable);
  CHECK(far.tell(Add{1}).error().code == Code::kUnavailable);
  CHECK(answer_of(far, Sum{}).error().code == Code::kUnavailable);
  REQUIRE(here.notes.peer_downs.size() == 1);
  CHECK(here.notes.peer_downs[0].reason.message == "the cable is out");
  REQUIRE(there.notes.peer_downs.size() == 1);

  SECTION("refs of the next session live") {
    REQUIRE(here.transport.connect("there"));
    run();
    const auto again = here.node.actor<TallyRef>(here.peer(), "tally");
    REQUIRE(again.tell(Add{7}));
    run();
    CHECK(sum_there() == 7);
    CHECK_FALSE(far.tell(Add{1}));
  }
}

TEST_CASE_METHOD(TwoTestNodes, "an answer that does not come in time is kTimeout", "[core][node]") {
  auto answer = ask(far, Sum{}, 100ms);
  here.host.advance(100ms);
  CHECK(answer.wait().error().code == Code::kTimeout);
  run();  // The answer comes too late and is dropped.
}

TEST_CASE_METHOD(TwoTestNodes, "the death of a watched actor of a peer is reported",
                 "[core][node]") {
  watch(far, ActorRef<Down>(here.witness));
  run();
  CHECK(here.notes.downs.empty());
  SECTION("when it ends in good order") {
    REQUIRE(far.tell(End{}));
    run();
    REQUIRE(here.notes.downs.size() == 1);
    CHECK(here.notes.downs[0].actor == far.id());
    CHECK_FALSE(here.notes.downs[0].crash);
    CHECK(answer_of(far, Sum{}).error().code == Code::kNotFound);
  }
  SECTION("when it breaks") {
    REQUIRE(far.tell(End{true}));
    run();
    REQUIRE(here.notes.downs.size() == 1);
    CHECK(here.notes.downs[0].crash->message == "it broke");
  }
  SECTION("when its node is unreachable") {
    there.transport.close(there.peer(), "gone");
    run();
    REQUIRE(here.notes.downs.size() == 1);
    CHECK(here.notes.downs[0].actor == far.id());
    CHECK(here.notes.downs[0].crash->code == Code::kUnavailable);
    watch(far, ActorRef<Down>(here.witness));
    run();
    CHECK(here.notes.downs.size() == 2);
  }
}

TEST_CASE_METHOD(TwoTestNodes, "watching an actor that is not there is answered with its death",
                 "[core][node]") {
  watch(here.node.actor<TallyRef>(here.peer(), "nobody"), ActorRef<Down>(here.witness));
  run();
  REQUIRE(here.notes.downs.size() == 1);
  CHECK(here.notes.downs[0].crash->code == Code::kNotFound);
}

TEST_CASE_METHOD(TwoTestNodes, "actors are started on a peer by the name of their kind",
                 "[core][node]") {
  SpawnerActor::Kinds kinds;
  kinds["tally"] = [this](const std::string& config) -> Result<AnyActor> {
    if (config != "from zero") return fail(Code::kInvalid, "a tally counts from zero");
    return AnyActor(TallyRef(there.host.spawn({}, [] { return std::make_unique<TallyActor>(); })));
  };
  there.node.publish(SpawnerActor::kSpawnerName,
                     there.host.spawn({}, [&] { return std::make_unique<SpawnerActor>(kinds); }));
  const auto spawner = here.node.actor<SpawnerRef>(here.peer(), SpawnerActor::kSpawnerName);
  const auto made = answer_of(spawner, SpawnOrder{"tally", "from zero"});
  REQUIRE(made);
  const TallyRef tally(made->receiver);
  REQUIRE(tally.tell(Add{3}));
  CHECK(answer_of(tally, Sum{}).value() == 3);
  CHECK(sum_there() == 0);
  CHECK(answer_of(spawner, SpawnOrder{"tally", "?"}).error().code == Code::kInvalid);
  CHECK(answer_of(spawner, SpawnOrder{"count", ""}).error().code == Code::kNotFound);

  SECTION("and stopped through their ref") {
    tally.stop();
    run();
    CHECK(answer_of(tally, Sum{}).error().code == Code::kNotFound);
  }
}

TEST_CASE_METHOD(TwoTestNodes, "a published actor cannot be stopped by a peer", "[core][node]") {
  far.stop();
  run();
  CHECK(answer_of(far, Sum{}));
  CHECK(there.node.counts().unknown_actor == 1);
}

TEST_CASE_METHOD(TwoTestNodes, "a message that the transport refuses stays with its sender",
                 "[core][node]") {
  here.transport.refuses_with = Error{Code::kOverloaded, "too much waits"};
  Cargo cargo{{frame_of("12345")}};
  const Status refused = far.tell(std::move(cargo));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kOverloaded);
  CHECK(cargo.frames.size() == 1);  // NOLINT(bugprone-use-after-move): left as it was.
  CHECK(answer_of(far, Sum{}).error().code == Code::kOverloaded);
}

TEST_CASE("peers whose actors reach each other over a node are released with its sessions",
          "[core][node]") {
  LocalNetwork network;
  TestNode left{network};
  TestNode right{network};
  std::vector<std::weak_ptr<Receiver>> relayed;
  {
    TestNode middle{network};
    REQUIRE(middle.transport.listen("middle"));
    REQUIRE(left.transport.connect("middle"));
    REQUIRE(right.transport.connect("middle"));
    deliver_all(network, {&left, &middle, &right});
    REQUIRE(middle.notes.ups.size() == 2);
    for (const auto& up : middle.notes.ups) {
      const auto tally = middle.node.actor<TallyRef>(up.peer, "tally");
      relayed.emplace_back(tally.receiver());
      middle.node.publish("tally " + std::to_string(relayed.size()), tally);
    }
    REQUIRE(left.node.actor<TallyRef>(left.peer(), "tally 2").tell(Add{1}));
    REQUIRE(right.node.actor<TallyRef>(right.peer(), "tally 1").tell(Add{2}));
    deliver_all(network, {&left, &middle, &right});
    CHECK_FALSE(relayed[0].expired());
  }
  CHECK(relayed[0].expired());
  CHECK(relayed[1].expired());
}

TEST_CASE_METHOD(NotConnected, "a ref through a session that is not there is dead",
                 "[core][node]") {
  const auto ref = here.node.actor<TallyRef>(PeerId{77}, "tally");
  CHECK(ref.tell(Add{1}).error().code == Code::kUnavailable);
}

TEST_CASE("questions and refs beyond a node's limits are refused", "[core][node]") {
  LocalNetwork network;
  TestNode there(network);
  TestNode here(network, {.max_questions = 2, .max_exports = 1});
  REQUIRE(there.transport.listen("there"));
  REQUIRE(here.transport.connect("there"));
  network.deliver_all();
  const auto far = here.node.actor<TallyRef>(here.peer(), "tally");
  auto first = ask(far, Sum{}, 1s);
  auto second = ask(far, Sum{}, 1s);
  CHECK(ask(far, Sum{}, 1s).wait().error().code == Code::kOverloaded);

  const auto far_friend = here.node.actor<ActorRef<Introduce>>(here.peer(), "friend");
  REQUIRE(far_friend.tell(Introduce{here.tally}));
  REQUIRE(far_friend.tell(Introduce{here.tally}));
  const auto other = here.host.spawn({}, [] { return std::make_unique<TallyActor>(); });
  CHECK(far_friend.tell(Introduce{other}).error().code == Code::kOverloaded);
}

}  // namespace
}  // namespace forebay
