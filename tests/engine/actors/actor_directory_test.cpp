#include "engine/actors/cluster/directory/actor_directory.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/actor_host.h"
#include "core/runtime/timer_queue.h"
#include "core/store/store.h"
#include "engine/actors/kept_state.h"
#include "engine/actors/seeded_executor.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

/// A store in memory that a test can make refuse.
struct MoodyStore final : Store {
  Result<std::string> get(std::string_view key) const override {
    if (!reads) return fail(Code::kUnavailable, "the disk does not answer");
    return kept.get(key);
  }
  Status write(const StoreBatch& batch) override {
    if (!writes) return fail(Code::kUnavailable, "the disk is full");
    return kept.write(batch);
  }
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override {
    if (!reads) return fail(Code::kUnavailable, "the disk does not answer");
    return kept.scan(prefix, from, visit);
  }
  MemoryStore kept;
  bool reads = true;
  bool writes = true;
};

/// A node that makes no actors and remembers its messages.
struct FakeNode final : ActorOf<FakeNode, StartActor, EndActor, TakeLibrary, ReadLibrary> {
  FakeNode(std::vector<StartActor>* into, const std::string* no, std::vector<std::string>* ends)
      : starts(into), refused(no), ended(ends) {}
  Status on(StartActor&& start, Context&) {
    if (start.spec.name == *refused) return fail(Code::kInvalid, "told to refuse");
    starts->push_back(std::move(start));
    return {};
  }
  Status on(const EndActor& end, Context&) {
    ended->push_back(end.name);
    return {};
  }
  Status on(const TakeLibrary&, Context&) { return {}; }
  Result<LibraryChunk> on(const ReadLibrary&, Context&) { return LibraryChunk{}; }
  std::vector<StartActor>* starts;
  const std::string* refused;
  std::vector<std::string>* ended;
};

std::vector<std::byte> bytes_of_text(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A head's directory and nodes in one host; the store outlives heads.
class DirectoryFixture {
 public:
  DirectoryFixture() { start_head(); }
  ~DirectoryFixture() {
    host.stop_all(ActorHost::Stop::kNow);
    run();
  }

  void run() {
    while (executor.step()) continue;
  }
  void advance(std::chrono::nanoseconds by) {
    clock.advance(by);
    timers.fire(clock.now());
    run();
  }
  /// Another head takes over the store, at this time of the day.
  void start_head(std::chrono::nanoseconds begin = 100ns) {
    if (directory.receiver() != nullptr) directory.stop();
    run();
    const ActorDirectory::Options options{
        .begin = static_cast<std::uint64_t>(begin.count()),
        .say = [this](const std::string& line) { said += line + '\n'; }};
    directory =
        host.spawn({.name = "directory", .mailbox_bytes = std::size_t{1} << 30},
                   [this, options] { return std::make_unique<ActorDirectory>(options, store); });
    REQUIRE(directory.tell(BeginDirectory{}));
    run();
  }

  template <Message M>
  Result<ReplyOf<M>> ask(M message) {
    std::optional<Result<ReplyOf<M>>> answer;
    ask_and_deliver(directory, std::move(message), 1s,
                    [&answer](Result<ReplyOf<M>> result) { answer = std::move(result); });
    run();
    return answer.value_or(fail(Code::kTimeout, "no answer"));
  }

  struct TestNode {
    ActorNodeRef ref;
    std::shared_ptr<std::vector<StartActor>> starts = std::make_shared<std::vector<StartActor>>();
  };
  TestNode add_node(const std::string& name, std::vector<StartActor> holds = {},
                    std::uint64_t process = 7) {
    TestNode node;
    node.ref = host.spawn({.name = name}, [this, starts = node.starts.get()] {
      return std::make_unique<FakeNode>(starts, &refused, &ended);
    });
    const LibraryInfo library{.name = "libshard.so",
                              .bytes = 1,
                              .digest = std::string(32, '0'),
                              .types = {"shard"},
                              .ships = false};
    RegisterNode message{.name = name,
                         .address = name + ":1",
                         .process = process,
                         .libraries = {library},
                         .holds = std::move(holds),
                         .node = ActorNodeRef(node.ref),
                         .cpu_thousandths = 0,
                         .memory_bytes = 150};
    const auto registered = ask(std::move(message));
    REQUIRE(registered);
    all.push_back(node.starts);
    return node;
  }
  Result<PlacedActor> spawn(const std::string& name, std::uint64_t restarts) {
    PlaceActor place;
    place.spec = {.name = name, .type = "shard", .start = {}, .restarts = restarts, .period = 1min};
    return ask(std::move(place));
  }
  Status keep(const PlacedActor& actor, const std::string& state) {
    return ask(KeepState{.name = actor.name, .life = actor.life, .state = bytes_of_text(state)});
  }
  void lose(const TestNode& node) {
    node.ref.stop();
    run();
  }

  SimulatedClock clock;
  TimerQueue timers;
  SeededExecutor executor{1};
  ActorHost host{{.executor = executor, .timers = timers, .clock = clock}};
  MoodyStore store;
  std::string said;
  std::string refused;             // the actor that no node makes
  std::vector<std::string> ended;  // by the head's word
  ActorDirectory::Ref directory;
  std::vector<std::shared_ptr<std::vector<StartActor>>> all;
};

}  // namespace

TEST_CASE_METHOD(DirectoryFixture, "a lost node's actor starts elsewhere from its kept state",
                 "[actors][kept]") {
  const TestNode one = add_node("n1");
  const auto placed = spawn("a", 3);
  REQUIRE(placed);
  CHECK(one.starts->back().state.empty());
  CHECK(keep(*placed, "first"));
  CHECK(keep(*placed, "second"));
  const TestNode two = add_node("n2");
  lose(one);
  REQUIRE(two.starts->size() == 1);
  CHECK(two.starts->back().state == bytes_of_text("second"));
  CHECK(ask(FindActor{"a"})->node == "n2");
  // The start on the lost node keeps nothing any more.
  CHECK(keep(*placed, "late").error().code == Code::kNotFound);
}

TEST_CASE_METHOD(DirectoryFixture, "a status has what nodes reported of their actors last",
                 "[actors][status]") {
  const TestNode one = add_node("n1");
  REQUIRE(spawn("a", 3));
  REQUIRE(spawn("b", 3));
  const auto use_of_a = [this] { return ask(QueryActors{})->shown.at(0).use; };
  REQUIRE(directory.tell(ReportUse{"n1", {{"a", {0.5, 100, 2}}, {"gone", {1, 1, 1}}}}));
  run();
  CHECK(use_of_a().busy == 0.5);
  CHECK(use_of_a().waiting_bytes == 100);
  CHECK(use_of_a().crashes == 2);
  CHECK(ask(QueryActors{})->shown.at(1).use.crashes == 0);
  REQUIRE(directory.tell(ReportUse{"n1", {}}));
  run();
  CHECK(use_of_a().busy == 0);
  REQUIRE(directory.tell(ReportUse{"n1", {{"a", {0.5, 100, 2}}}}));
  run();
  lose(one);
  add_node("n1", {}, 8);  // another process
  CHECK(use_of_a().crashes == 0);
}

TEST_CASE_METHOD(DirectoryFixture, "states that the head cannot take are refused",
                 "[actors][kept]") {
  add_node("n1");
  const auto placed = spawn("a", 3);
  REQUIRE(placed);
  CHECK(keep(*placed, "").error().code == Code::kInvalid);
  CHECK(keep(*placed, std::string(kMostKeptBytes + 1, 'x')).error().code == Code::kInvalid);
  PlacedActor other = *placed;
  other.name = "b";
  CHECK(keep(other, "x").error().code == Code::kNotFound);
  CHECK(keep(*placed, std::string(kMostKeptBytes, 'x')));
}

TEST_CASE_METHOD(DirectoryFixture, "states that wait for the disk are bounded", "[actors][kept]") {
  add_node("n1");
  std::vector<PlacedActor> placed;
  for (const char* name : {"a", "b", "c", "d", "e"}) placed.push_back(spawn(name, 3).value());
  std::size_t kept = 0;
  std::size_t overloaded = 0;
  for (const PlacedActor& actor : placed) {
    KeepState keep{.name = actor.name, .life = actor.life, .state = {}};
    keep.state.resize(kMostKeptBytes);
    ask_and_deliver(directory, std::move(keep), 1s, [&](const Status& status) {
      ++(status ? kept : overloaded);
      if (!status) CHECK(status.error().code == Code::kOverloaded);
    });
  }
  run();
  CHECK(kept == 4);
  CHECK(overloaded == 1);
}

TEST_CASE_METHOD(DirectoryFixture, "an actor does not get the state of an earlier one of its name",
                 "[actors][kept]") {
  const TestNode one = add_node("n1");
  const auto first = spawn("a", 3);
  REQUIRE(first);
  CHECK(keep(*first, "old"));
  REQUIRE(directory.tell(ActorEnded{"a", first->life, "it broke"}));
  const auto second = spawn("a", 3);
  REQUIRE(second);
  start_head();
  add_node("n2");
  advance(10s);  // The first node has not come back.
  REQUIRE(all.back()->size() == 1);
  CHECK(all.back()->back().state.empty());
  CHECK(said.find("a on node n1 has ended: it broke") != std::string::npos);
}

TEST_CASE_METHOD(DirectoryFixture, "another head goes on with the actors of the store",
                 "[actors][kept]") {
  const TestNode one = add_node("n1");
  const auto placed = spawn("a", 1);
  REQUIRE(placed);
  CHECK(keep(*placed, "kept"));
  const StartActor held = one.starts->back();
  start_head();
  CHECK(ask(FindActor{"a"}).error().code == Code::kUnavailable);
  CHECK(spawn("a", 1).error().code == Code::kInvalid);  // Its name is taken.

  SECTION("when their node comes back") {
    const TestNode again = add_node("n1", {held});
    CHECK(ask(FindActor{"a"})->life == placed->life);
    CHECK(spawn("a", 1).error().code == Code::kInvalid);
    CHECK(keep(*placed, "later"));
    advance(10s);
    CHECK(ask(FindActor{"a"})->node == "n1");
    lose(again);
    CHECK(add_node("n2").starts->back().state == bytes_of_text("later"));
  }
  SECTION("elsewhere, when it does not") {
    const TestNode other = add_node("n2");
    advance(4s);
    CHECK(other.starts->empty());
    advance(1s);
    REQUIRE(other.starts->size() == 1);
    CHECK(other.starts->back().state == bytes_of_text("kept"));
    const auto moved = ask(FindActor{"a"});
    REQUIRE(moved);
    CHECK(moved->birth == placed->birth);
    CHECK(moved->moves == 1);
  }
  SECTION("at once, when another process has its name") {
    CHECK(add_node("n1", {}, 8).starts->back().state == bytes_of_text("kept"));
  }
  SECTION("which have ended, if their node holds them no longer") {
    add_node("n1");
    CHECK(ask(FindActor{"a"}).error().code == Code::kNotFound);
    start_head();
    CHECK(ask(QueryActors{})->actors == 0);
  }
}

TEST_CASE_METHOD(DirectoryFixture, "restarts are limited across heads, by the time of the day",
                 "[actors][kept]") {
  start_head(1000s);
  const TestNode one = add_node("n1");
  REQUIRE(spawn("a", 2));  // within a minute
  advance(10s);
  lose(one);  // at 1010 s
  const TestNode two = add_node("n2");
  advance(10s);
  lose(two);  // at 1020 s
  CHECK(ask(QueryActors{})->actors == 1);

  SECTION("a third loss within the minute is too many") {
    start_head(1040s);
    lose(add_node("n3"));
    CHECK(ask(QueryActors{})->actors == 0);
    CHECK(said.find("actor a has ended with its node: no restart is left") != std::string::npos);
  }
  SECTION("a later one is not, and counts again") {
    start_head(1075s);
    lose(add_node("n3"));  // 1010 s is more than a minute ago
    CHECK(ask(QueryActors{})->actors == 1);
    lose(add_node("n4"));  // 1020 s, 1075 s
    CHECK(ask(QueryActors{})->actors == 0);
  }
  SECTION("losses in the future, by a clock that was set back, are those of now") {
    start_head(500s);
    const TestNode three = add_node("n3");
    advance(61s);
    lose(three);
    CHECK(ask(QueryActors{})->actors == 1);
  }
}

TEST_CASE_METHOD(DirectoryFixture, "an actor that waits for a node does so at the next head",
                 "[actors][kept]") {
  const TestNode one = add_node("n1");
  const auto placed = spawn("a", 1);
  REQUIRE(placed);
  CHECK(keep(*placed, "kept"));
  lose(one);
  start_head();
  CHECK(add_node("n2").starts->back().state == bytes_of_text("kept"));
}

TEST_CASE_METHOD(DirectoryFixture, "an actor without room waits until another one ends",
                 "[actors][cluster]") {
  const TestNode one = add_node("n1");
  const TestNode two = add_node("n2");
  PlaceActor place;
  place.spec = {.name = "a", .type = "shard", .start = {}, .restarts = 1, .period = 1min};
  place.spec.memory_bytes = 100;
  const auto first = ask(PlaceActor(place));
  place.spec.name = "b";
  REQUIRE(ask(PlaceActor(place)));
  place.spec.name = "c";
  CHECK(ask(PlaceActor(place)).error().code == Code::kOverloaded);
  REQUIRE(first);
  CHECK(first->node == "n1");
  lose(two);
  CHECK(ask(FindActor{"b"}).error().message.find("n1 lacks 1 MiB") != std::string::npos);
  REQUIRE(directory.tell(ActorEnded{"a", first->life, ""}));
  run();
  CHECK(ask(FindActor{"b"})->node == "n1");
}

TEST_CASE_METHOD(DirectoryFixture, "a group is started as a whole or not at all",
                 "[actors][cluster]") {
  const TestNode one = add_node("n1");
  const TestNode two = add_node("n2");
  const auto group_of = [](const std::vector<std::string>& names, std::uint64_t bytes) {
    PlaceGroup group;
    for (const std::string& name : names) {
      PlaceActor place;
      place.spec = {.name = name, .type = "shard", .start = {}, .restarts = 1, .period = 1min};
      place.spec.memory_bytes = bytes;
      group.members.push_back(std::move(place));
    }
    return group;
  };
  const auto num_actors = [this] { return ask(QueryActors{})->actors; };
  CHECK(ask(PlaceGroup{}).error().code == Code::kInvalid);
  CHECK(ask(group_of(std::vector<std::string>(1025, "a"), 0)).error().code == Code::kInvalid);
  CHECK(ask(group_of({"a", "a"}, 0)).error().message.find("is taken") != std::string::npos);
  const auto full = ask(group_of({"a", "b", "c"}, 100));
  REQUIRE_FALSE(full);
  CHECK(full.error().message.find("actor c needs") != std::string::npos);
  CHECK(num_actors() == 0);
  CHECK(one.starts->empty());
  ended.clear();

  SECTION("if there is room for all") {
    const auto placed = ask(group_of({"a", "b"}, 100));
    REQUIRE(placed);
    CHECK(placed->at(0).node == "n1");
    CHECK(placed->at(1).node == "n2");
  }
  SECTION("unless an actor cannot be made") {
    refused = "b";
    const auto placed = ask(group_of({"a", "b"}, 0));
    REQUIRE_FALSE(placed);
    CHECK(placed.error().message.find("actor b on node n2: told to refuse") != std::string::npos);
    CHECK(num_actors() == 0);
    CHECK(ended == std::vector<std::string>{"a"});
  }
  SECTION("unless the disk is full") {
    store.writes = false;
    CHECK(ask(group_of({"a", "b"}, 0)).error().code == Code::kUnavailable);
    CHECK(num_actors() == 0);
  }
  SECTION("unless a node is lost meanwhile") {
    std::optional<Result<std::vector<PlacedActor>>> answer;
    ask_and_deliver(directory, group_of({"a", "b"}, 0), 1s,
                    [&answer](auto result) { answer = std::move(result); });
    two.ref.stop();
    run();
    REQUIRE(answer);
    CHECK(num_actors() == (*answer ? 2 : 0));
  }
}

TEST_CASE_METHOD(DirectoryFixture, "a disk that refuses", "[actors][kept]") {
  const TestNode one = add_node("n1");
  const auto placed = spawn("a", 3);
  REQUIRE(placed);
  CHECK(keep(*placed, "kept"));
  store.writes = false;

  SECTION("refuses new actors and states, and is tried again") {
    CHECK(keep(*placed, "later").error().code == Code::kUnavailable);
    advance(1s);
    std::optional<Result<PlacedActor>> answer;
    PlaceActor place;
    place.spec = {.name = "b", .type = "shard", .start = {}};
    ask_and_deliver(directory, std::move(place), 9s,
                    [&answer](Result<PlacedActor> result) { answer = std::move(result); });
    advance(1s);
    REQUIRE(answer);
    CHECK(answer->error().message.find("b cannot be stored: the disk is full") !=
          std::string::npos);
    store.writes = true;
    advance(1s);
    CHECK(spawn("b", 0));
    CHECK(keep(*placed, "later"));
  }
  SECTION("does not keep actors from starting elsewhere") {
    const TestNode two = add_node("n2");
    lose(one);
    advance(1s);
    CHECK(two.starts->back().state == bytes_of_text("kept"));
    store.writes = true;
    advance(1s);
    start_head();
    CHECK(ask(FindActor{"a"}).error().message.find("n2") != std::string::npos);
  }
  SECTION("to be read delays a start") {
    store.writes = true;
    const TestNode two = add_node("n2");
    store.reads = false;
    lose(one);
    advance(1s);
    CHECK(two.starts->empty());
    store.reads = true;
    advance(1s);
    CHECK(two.starts->back().state == bytes_of_text("kept"));
  }
}

TEST_CASE_METHOD(DirectoryFixture, "what is damaged in the store is left out", "[actors][kept]") {
  const TestNode one = add_node("n1");
  const auto placed = spawn("a", 3);
  REQUIRE(placed);
  REQUIRE(spawn("b", 3));
  CHECK(keep(*placed, "kept"));
  StoreBatch damage;
  damage.put("actors/record/b", "\x93");
  damage.put("actors/record/c", *store.get("actors/record/a"));
  damage.put("actors/state/a", "\x92\x01");
  REQUIRE(store.write(damage));
  start_head();
  CHECK(said.find("the stored actor b") != std::string::npos);
  CHECK(said.find("the stored actor c is not one of this program") != std::string::npos);
  CHECK(ask(QueryActors{})->actors == 1);
  add_node("n2");
  advance(5s);
  CHECK(said.find("actor a cannot be started") != std::string::npos);
  CHECK(ask(FindActor{"a"}).error().code == Code::kNotFound);
}

TEST_CASE_METHOD(DirectoryFixture, "a store that cannot be read is said", "[actors][kept]") {
  store.reads = false;
  start_head();
  CHECK(said.find("cannot be read: the disk does not answer") != std::string::npos);
}

TEST_CASE_METHOD(DirectoryFixture, "programs hear of a lost node until it comes back",
                 "[actors][fence]") {
  struct Program final : ActorOf<Program, LostNode> {
    explicit Program(std::vector<LostNode>* into) : heard(into) {}
    Status on(const LostNode& lost, Context&) {
      heard->push_back(lost);
      return {};
    }
    std::vector<LostNode>* heard;
  };
  std::vector<LostNode> heard;
  const auto program =
      host.spawn({.name = "program"}, [&heard] { return std::make_unique<Program>(&heard); });
  const auto follow = [&] { return ask(FollowNodes{ActorRef<LostNode>(program)}); };
  const TestNode one = add_node("n1");
  const auto placed = spawn("a", 3);
  REQUIRE(placed);
  CHECK(follow()->empty());
  lose(one);
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].node == "n1");
  CHECK(heard[0].last_life == placed->life);
  const auto missed = follow();  // in another session
  REQUIRE(missed->size() == 1);
  CHECK(missed->at(0).last_life == placed->life);
  const TestNode again = add_node("n1");
  CHECK(ask(FindActor{"a"})->life > placed->life);
  CHECK(follow()->empty());
  lose(again);
  CHECK(heard.size() == 2);  // Once, though it has asked three times.
  CHECK(heard[1].last_life > placed->life);
  program.stop();
  run();
  CHECK_FALSE(ask(FollowNodes{}));
}

}  // namespace forebay
