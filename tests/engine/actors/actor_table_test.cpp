#include "engine/actors/cluster/directory/actor_table.h"

#include <string>
#include <vector>

#include "core/runtime/actor_host.h"
#include "core/runtime/timer_queue.h"
#include "engine/actors/cluster/named_actor.h"
#include "engine/actors/seeded_executor.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// A cluster of nodes that no process stands behind.
struct TableFixture {
  SimulatedClock clock;
  TimerQueue timers;
  SeededExecutor executor{1};
  ActorHost host{{.executor = executor, .timers = timers, .clock = clock}};
  ActorTable table{100};

  RegisterNode node(const std::string& name, std::vector<std::string> types) {
    return {.name = name,
            .address = name + ":1",
            .process = 7,
            .libraries = {{"lib.so", 1, std::string(32, '0'), std::move(types), false}},
            .holds = {},
            .node = ActorNodeRef(std::make_shared<NamedActor>(host, name, 0))};
  }
  static PlaceActor wanted(const std::string& name, std::uint64_t restarts = 0,
                           const std::string& at = "") {
    PlaceActor place;
    place.spec.name = name;
    place.spec.type = "shard";
    place.spec.restarts = restarts;
    place.spec.period = std::chrono::minutes(1);
    place.node = at;
    return place;
  }
  /// Starts it, and returns its node.
  std::string start(const PlaceActor& place) {
    REQUIRE(table.check(place));
    ActorTable::Entry& entry = table.add(place.spec);
    const auto* node = table.place(entry, place.node);
    REQUIRE(node != nullptr);
    entry.state = ActorTable::State::kRunning;
    entry.started = true;
    return node->name;
  }
};

}  // namespace

TEST_CASE_METHOD(TableFixture, "actors go to the node of their type with the fewest",
                 "[actors][cluster]") {
  table.add(node("n1", {"shard"}));
  table.add(node("n2", {"shard", "counter"}));
  table.add(node("n3", {"counter"}));
  CHECK(start(wanted("a")) == "n1");
  CHECK(start(wanted("b")) == "n2");
  CHECK(start(wanted("c")) == "n1");
  table.remove("a");
  table.remove("c");
  CHECK(start(wanted("d")) == "n1");
  CHECK(start(wanted("e", 0, "n2")) == "n2");
}

TEST_CASE_METHOD(TableFixture, "what cannot be placed is refused with what there is",
                 "[actors][cluster]") {
  CHECK(table.check(wanted("a")).error().code == Code::kNotFound);
  table.add(node("n1", {"counter"}));
  CHECK(table.check(wanted("a")).error().message.find("n1 with counter") != std::string::npos);
  CHECK(table.check(wanted("a", 0, "n9")).error().code == Code::kNotFound);
  table.add(node("n2", {"shard"}));
  CHECK(table.check(wanted("a", 0, "n1")).error().code == Code::kNotFound);
  CHECK(table.check(wanted("")).error().code == Code::kInvalid);
  CHECK(table.check(wanted("a\nb")).error().code == Code::kInvalid);
  start(wanted("a"));
  CHECK(table.check(wanted("a")).error().code == Code::kInvalid);
}

TEST_CASE_METHOD(TableFixture, "actors go where there is room, and what is missing is said",
                 "[actors][cluster]") {
  const auto needs = [](const std::string& name, std::uint64_t cpus, std::uint64_t mib) {
    PlaceActor place = wanted(name, 5);
    place.spec.cpu_thousandths = cpus;
    place.spec.memory_bytes = mib << 20;
    return place;
  };
  const auto add_room = [this](const std::string& name, std::uint64_t cpus, std::uint64_t mib) {
    RegisterNode one = node(name, {"shard"});
    one.cpu_thousandths = cpus;
    one.memory_bytes = mib << 20;
    table.add(one);
  };
  add_room("n1", 2000, 100);
  add_room("n2", 1000, 400);
  CHECK(start(needs("a", 1500, 0)) == "n1");
  CHECK(start(needs("b", 0, 300)) == "n2");
  CHECK(start(needs("c", 600, 0)) == "n2");  // n1 has half a CPU left.
  const auto full = table.check(needs("d", 1000, 150));
  REQUIRE_FALSE(full);
  CHECK(full.error().code == Code::kOverloaded);
  CHECK(full.error().message ==
        "actor d needs 1 CPUs and 150 MiB, and no node has room: n1 lacks 0.5 CPUs and 50 MiB, n2 "
        "lacks 0.6 CPUs and 50 MiB");
  PlaceActor at = needs("d", 0, 101);
  at.node = "n1";
  CHECK(table.check(at).error().message ==
        "actor d needs 101 MiB, and no node has room: n1 lacks 1 MiB");
  CHECK(table.check(needs("d", 1'000'000'001, 0)).error().code == Code::kInvalid);
  CHECK(table.check(needs("d", 0, 1 << 25)).error().code == Code::kInvalid);

  table.lose("n1", std::chrono::seconds(1));
  CHECK(table.place(*table.find("a"), "") == nullptr);
  CHECK(table.where("a").error().message.find("lacks 1.1 CPUs; it waits for a node") !=
        std::string::npos);
  table.remove("c");
  CHECK(table.where("a").error().message.find("lacks 0.5 CPUs") != std::string::npos);
  add_room("n3", 1500, 0);
  CHECK(table.where("a").error().message == "actor a is about to be started");
  REQUIRE(table.place(*table.find("a"), "") != nullptr);
  CHECK(table.find("a")->node == "n3");
  CHECK(table.waiting().empty());
}

TEST_CASE_METHOD(TableFixture, "actors spread, pack, or go near another one", "[actors][cluster]") {
  table.add(node("n1", {"shard"}));
  table.add(node("n2", {"shard"}));
  const auto packed = [](const std::string& name) {
    PlaceActor place = wanted(name);
    place.spec.pack = true;
    return place;
  };
  const auto near = [](const std::string& name, const std::string& other) {
    PlaceActor place = wanted(name, 5);
    place.spec.near = other;
    return place;
  };
  CHECK(start(wanted("a", 5, "n2")) == "n2");
  CHECK(start(packed("b")) == "n2");
  CHECK(start(packed("c")) == "n2");
  CHECK(start(wanted("d")) == "n1");
  CHECK(start(near("e", "a")) == "n2");
  CHECK(table.check(near("f", "none")).error().code == Code::kNotFound);

  CHECK(table.lose("n2", std::chrono::seconds(1)).moving == std::vector<std::string>{"a", "e"});
  table.add(node("n0", {"shard"}));
  CHECK(table.waiting() == std::vector<std::string>{"a", "e"});
  REQUIRE(table.place(*table.find("e"), "") != nullptr);  // Its neighbour is on no node now.
  CHECK(table.find("e")->node == "n0");
  REQUIRE(table.place(*table.find("a"), "") != nullptr);
  CHECK(table.find("a")->node == "n0");
}

TEST_CASE_METHOD(TableFixture, "a lost node's actors move while restarts are left",
                 "[actors][cluster]") {
  table.add(node("n1", {"shard"}));
  start(wanted("once"));
  start(wanted("twice", 1));
  const auto loss = table.lose("n1", std::chrono::seconds(1));
  CHECK(loss.ended == std::vector<std::string>{"once"});
  CHECK(loss.moving == std::vector<std::string>{"twice"});
  CHECK(table.where("once").error().code == Code::kNotFound);
  CHECK(table.where("twice").error().code == Code::kUnavailable);

  table.add(node("n2", {"shard"}));
  ActorTable::Entry& entry = *table.find("twice");
  const std::uint64_t birth = entry.spec.birth;
  REQUIRE(table.place(entry, ""));
  entry.state = ActorTable::State::kRunning;
  const auto moved = table.where("twice");
  REQUIRE(moved);
  CHECK(moved->node == "n2");
  CHECK(moved->moves == 1);
  CHECK(moved->birth == birth);
  CHECK(moved->life > birth);
  CHECK(table.lose("n2", std::chrono::seconds(2)).ended == std::vector<std::string>{"twice"});
}

TEST_CASE_METHOD(TableFixture, "a node that comes back keeps what is still its own",
                 "[actors][cluster]") {
  table.add(node("n1", {"shard"}));
  start(wanted("a", 1));
  const StartActor held{.spec = table.find("a")->spec, .life = table.find("a")->life};

  SECTION("at a head that was restarted") {
    ActorTable fresh(1000);
    auto again = node("n1", {"shard"});
    again.holds = {held};
    CHECK(fresh.add(again).stale.empty());
    CHECK(fresh.where("a")->life == held.life);
  }
  SECTION("unless it was started elsewhere meanwhile") {
    table.lose("n1", std::chrono::seconds(1));
    table.add(node("n2", {"shard"}));
    REQUIRE(table.place(*table.find("a"), ""));
    auto again = node("n1", {"shard"});
    again.holds = {held};
    const auto stale = table.add(again).stale;
    REQUIRE(stale.size() == 1);
    CHECK(stale.front().life == held.life);
  }
  SECTION("and not what has ended with it when it was lost") {
    table.lose("n1", std::chrono::seconds(1));
    table.remove("a");
    auto again = node("n1", {"shard"});
    again.holds = {held, {.spec = held.spec, .life = held.life + 1}};
    again.holds[1].spec.name = "later";  // It cannot be one of those that were lost.
    const auto stale = table.add(again).stale;
    REQUIRE(stale.size() == 1);
    CHECK(stale.front().name == "a");
    CHECK(table.where("later"));
  }
  SECTION("and what it no longer holds has ended") {
    table.add(node("n1", {"shard"}));
    CHECK(table.where("a").error().code == Code::kNotFound);
  }
  SECTION("but not a second process of its name") {
    auto other = node("n1", {"shard"});
    other.process = 8;
    CHECK(table.check(other).error().code == Code::kInvalid);
  }
}

}  // namespace forebay
