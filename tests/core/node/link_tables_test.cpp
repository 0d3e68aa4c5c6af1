#include "core/node/link_tables.h"

#include <memory>

#include "tests/support/test_host.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

struct First {
  static constexpr std::string_view kTag = "test.first/1";
  static auto fields(auto&) { return std::tie(); }
};
struct Second {
  static constexpr std::string_view kTag = "test.second/1";
  static auto fields(auto&) { return std::tie(); }
};

class AnyActorHere final : public ActorOf<AnyActorHere, First, Second> {
 public:
  Status on(const First&, Context&) { return {}; }
  Status on(const Second&, Context&) { return {}; }
};

struct TablesFixture {
  Node::Options limits{.max_questions = 2, .max_exports = 1, .max_watches = 1};
  LinkTables tables{limits};
  test::TestHost host;

  AnyActorHere::Ref actor() {
    return host.spawn({.name = "a"}, [] { return std::make_unique<AnyActorHere>(); });
  }
  static std::uint64_t number_of(const AnyActorHere::Ref& actor) {
    return static_cast<std::uint64_t>(actor.id());
  }
  Status ask(std::uint64_t number) {
    EnvelopePtr envelope = seal(First{});
    return tables.keep_question(number, envelope);
  }
};

TEST_CASE_METHOD(TablesFixture, "a question is kept until it is answered once", "[core][node]") {
  REQUIRE(ask(1));
  REQUIRE(ask(2));
  CHECK(ask(3).error().code == Code::kOverloaded);
  CHECK(tables.take_question(1) != nullptr);
  CHECK(tables.take_question(1) == nullptr);
  CHECK(ask(3));
}

TEST_CASE_METHOD(TablesFixture, "an exported actor takes the messages that its refs list",
                 "[core][node]") {
  const AnyActorHere::Ref here = actor();
  const std::uint64_t number = number_of(here);
  const std::uint64_t first = kTypeOf<First>->wire->number;
  const std::uint64_t second = kTypeOf<Second>->wire->number;
  CHECK(tables.exported(number, first).receiver == nullptr);
  REQUIRE(tables.export_actor(ActorRef<First>(here)));
  CHECK(tables.exported(number, first).receiver == here.receiver());
  CHECK(tables.exported(number, first).type == kTypeOf<First>);
  CHECK(tables.exported(number, second).receiver == here.receiver());
  CHECK(tables.exported(number, second).type == nullptr);
  REQUIRE(tables.export_actor(ActorRef<Second>(here)));
  CHECK(tables.exported(number, second).type == kTypeOf<Second>);
  CHECK(tables.export_actor(actor()).error().code == Code::kOverloaded);
}

TEST_CASE_METHOD(TablesFixture, "an actor stays exported while a message that was sent named it",
                 "[core][node]") {
  const AnyActorHere::Ref here = actor();
  REQUIRE(tables.export_actor(here));
  REQUIRE(tables.export_actor(here));
  tables.take_back(number_of(here));
  CHECK(tables.exported(number_of(here), 0).receiver == here.receiver());
  tables.take_back(number_of(here));
  CHECK(tables.exported(number_of(here), 0).receiver == nullptr);
  tables.take_back(number_of(here));  // not known: nothing happens
  REQUIRE(tables.export_actor(actor()));
}

TEST_CASE_METHOD(TablesFixture, "an actor that the peer has stopped is not kept", "[core][node]") {
  const AnyActorHere::Ref here = actor();
  REQUIRE(tables.export_actor(here));
  REQUIRE(tables.export_actor(here));
  tables.forget(number_of(here));
  CHECK(tables.exported(number_of(here), 0).receiver == nullptr);
  CHECK(tables.export_actor(actor()));
}

TEST_CASE_METHOD(TablesFixture, "watches of a peer are counted", "[core][node]") {
  CHECK(tables.begin_watch());
  CHECK_FALSE(tables.begin_watch());
  tables.end_watch();
  CHECK(tables.begin_watch());
}

TEST_CASE_METHOD(TablesFixture, "the end returns what is left, and refuses everything after it",
                 "[core][node]") {
  const AnyActorHere::Ref here = actor();
  REQUIRE(ask(1));
  REQUIRE(tables.export_actor(here));
  REQUIRE(tables.add_watcher(7, {here.receiver(), here.id()}));
  REQUIRE(tables.add_watcher(8, {here.receiver(), here.id()}));
  CHECK(tables.take_watchers(8).size() == 1);
  CHECK(tables.take_watchers(8).empty());
  REQUIRE(tables.status());
  const auto left = tables.end({Code::kUnavailable, "over"});
  REQUIRE(left);
  CHECK(left->questions.size() == 1);
  CHECK(left->watchers.size() == 1);
  CHECK_FALSE(tables.end({Code::kUnavailable, "again"}));
  CHECK(tables.status().error().message == "over");
  CHECK(ask(2).error().message == "over");
  CHECK(tables.add_watcher(7, {here.receiver(), here.id()}).error().message == "over");
  CHECK(tables.export_actor(here).error().message == "over");
  CHECK(tables.exported(number_of(here), 0).receiver == nullptr);
}

}  // namespace
}  // namespace forebay
