#include "engine/actors/objects/objects.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <forebay/testing.h>

#include "tests/engine/actors/object_world.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using namespace test;
using Listens = ObjectWorld::Listens;

constexpr std::size_t kChunkFloats = kObjectChunk / sizeof(float);

/// A program `owner` without a listener that has connected to the nodes n1, n2, ….
struct ObjectsFixture {
  explicit ObjectsFixture(int count = 2) {
    for (int i = 1; i <= count; ++i) {
      const std::string name = "n" + std::to_string(i);
      nodes.push_back(&world.add(name, Listens::kYes));
      world.connect(owner, name);
    }
  }

  /// Sends the object to the Taker of a node, which keeps it.
  void give(ObjectProcess& from, const std::string& to, const FloatsObject& object) {
    REQUIRE(from.taker_at(to).tell(Give{object}));
    world.run();
  }
  /// The code of the error of a get, or nothing.
  std::optional<actors::Code> error_of(const FloatsObject& object) {
    const auto got = object.get();
    world.run();
    world.pass(200ms);
    REQUIRE(got.ready());
    const auto view = got.wait();
    return view ? std::nullopt : std::optional(view.error().code);
  }

  ObjectWorld world;
  ObjectProcess& owner = world.add("owner", Listens::kNo);
  std::vector<ObjectProcess*> nodes;
};

struct FourNodes : ObjectsFixture {
  FourNodes() : ObjectsFixture(4) {}
};

struct Named {
  std::map<std::string, int> numbers;
  static auto fields(auto& self) { return std::tie(self.numbers); }
};

}  // namespace

TEST_CASE("a vector in an object is viewed where it lies, by every actor of the process",
          "[actors][objects]") {
  actors::TestSystem system(1);
  FloatsObject taken;
  const auto taker = system.spawn<Taker>({.name = "taker"}, &taken);
  Floats values = {1, 2, 3};
  const float* const place = values.data();
  auto object = system.put(std::move(values));
  REQUIRE(object);
  CHECK(object->size() == 3 * sizeof(float));
  REQUIRE(taker.tell(Give{*object}));
  system.run();
  CHECK(taken == *object);
  const auto view = system.wait(taken.get());
  REQUIRE(view);
  CHECK(&(*view)[0] == place);
  CHECK((*view)[2] == 3);
  CHECK(view->size() == 3);
}

TEST_CASE("another value in an object is unpacked by a get", "[actors][objects]") {
  actors::TestSystem system(1);
  const auto object = system.put(Named{{{"one", 1}, {"two", 2}}});
  REQUIRE(object);
  const auto view = system.wait(object->get());
  REQUIRE(view);
  CHECK((*view)->numbers.at("two") == 2);
  CHECK(system.put(Give{*system.put(Floats{1})}).error().code == actors::Code::kInvalid);
  CHECK(system.wait(FloatsObject().get()).error().code == actors::Code::kNotFound);
  CHECK(system.wait(system.put(Floats())->get())->size() == 0);
}

TEST_CASE_METHOD(ObjectsFixture, "an object lives as long as any process has a reference",
                 "[actors][objects]") {
  {
    const FloatsObject object = owner.put(10);
    REQUIRE(owner.taker_at("n1").tell(Give{object}));  // on its way
  }
  world.run();
  CHECK(owner.memory() == 40);
  const auto view = [&] {
    const auto got = nodes[0]->taken.get();
    world.run();
    return got.wait();
  }();
  REQUIRE(view);
  CHECK((*view)[9] == 9);
  nodes[0]->taken = {};
  world.run();
  CHECK(owner.memory() == 0);
  CHECK(nodes[0]->memory() == 40);  // viewed
}

TEST_CASE_METHOD(ObjectsFixture, "all gets of a process share one fetch", "[actors][objects]") {
  const FloatsObject object = owner.put(3 * kChunkFloats);
  give(owner, "n1", object);
  give(owner, "n1", object);
  const auto first = nodes[0]->taken.get();
  const auto second = nodes[0]->taken.get();
  world.run();
  const auto one = first.wait();
  const auto two = second.wait();
  REQUIRE((one && two));
  CHECK(&(*one)[0] == &(*two)[0]);
  CHECK((*one)[3 * kChunkFloats - 1] == static_cast<float>(3 * kChunkFloats - 1));
  CHECK(owner.transport.sent_frame_bytes == 3 * kObjectChunk);
}

TEST_CASE_METHOD(ObjectsFixture, "a session's end releases what its process held",
                 "[actors][objects]") {
  {
    const FloatsObject object = owner.put(10);
    give(owner, "n1", object);
    give(owner, "n2", object);
  }
  world.run();
  CHECK(owner.memory() == 40);
  nodes[0]->transport.stop();
  world.run();
  CHECK(owner.memory() == 40);
  nodes[1]->transport.stop();
  world.run();
  CHECK(owner.memory() == 0);
}

TEST_CASE_METHOD(ObjectsFixture,
                 "without its owner an object is where it was fetched, and nowhere else",
                 "[actors][objects]") {
  const FloatsObject object = owner.put(10);
  give(owner, "n1", object);
  give(owner, "n2", object);
  CHECK_FALSE(error_of(nodes[0]->taken));
  owner.transport.stop();
  world.run();
  CHECK_FALSE(error_of(nodes[0]->taken));
  CHECK(error_of(nodes[1]->taken) == actors::Code::kUnavailable);
}

TEST_CASE_METHOD(ObjectsFixture, "a get that waits fails when the owner goes",
                 "[actors][objects]") {
  give(owner, "n1", owner.put(4 * kChunkFloats));
  const auto got = nodes[0]->taken.get();
  world.run_some(4);
  CHECK_FALSE(got.ready());
  owner.transport.stop();
  world.run();
  REQUIRE(got.ready());
  const auto view = got.wait();
  CHECK(view.error().code == actors::Code::kUnavailable);
  CHECK(view.error().message == "the owner of the object: stopped");
  CHECK(nodes[0]->memory() == 0);
}

TEST_CASE_METHOD(ObjectsFixture,
                 "a reference that a node passes on reaches an owner without listener",
                 "[actors][objects]") {
  world.connect(*nodes[0], "n2");
  give(owner, "n1", owner.put(10));
  CHECK_FALSE(error_of(nodes[0]->taken));
  give(*nodes[0], "n2", nodes[0]->taken);
  nodes[0]->taken = {};
  world.run();
  CHECK(nodes[0]->memory() == 0);
  CHECK(owner.memory() == 40);
  CHECK_FALSE(error_of(nodes[1]->taken));
  nodes[1]->taken = {};
  world.run();
  CHECK(owner.memory() == 0);
}

TEST_CASE_METHOD(ObjectsFixture, "a reference that a node passes on outlives that node",
                 "[actors][objects]") {
  world.connect(*nodes[0], "n2");
  ObjectProcess& listening = world.add("n3", Listens::kYes);
  world.connect(listening, "n1");
  give(listening, "n1", listening.put(10));
  world.pass(40ms);  // n1 connects to n3
  give(*nodes[0], "n2", nodes[0]->taken);
  world.pass(40ms);
  nodes[0]->transport.stop();
  world.run();
  CHECK(listening.memory() == 40);
  CHECK_FALSE(error_of(nodes[1]->taken));
}

TEST_CASE_METHOD(ObjectsFixture, "an owner that cannot be reached is given up",
                 "[actors][objects]") {
  ObjectProcess& listening = world.add("n3", Listens::kYes);
  world.connect(listening, "n1");
  FloatsObject object = listening.put(10);
  REQUIRE(listening.taker_at("n1").tell(Give{object}));
  world.run_some(1);
  listening.transport.stop();
  world.run();
  const auto got = nodes[0]->taken.get();
  world.run();
  world.pass(11s);
  REQUIRE(got.ready());
  CHECK(got.wait().error().code == actors::Code::kUnavailable);
}

TEST_CASE_METHOD(ObjectsFixture, "a reference that goes before it is registered is released",
                 "[actors][objects]") {
  REQUIRE(owner.taker_at("n1").tell(Give{owner.put(10)}));
  world.run_some(1);  // n1 asks the owner
  REQUIRE(nodes[0]->taken);
  nodes[0]->taken = {};
  world.run();
  CHECK(owner.memory() == 0);
}

TEST_CASE_METHOD(ObjectsFixture, "an object that was lost with a session comes back in another one",
                 "[actors][objects]") {
  const FloatsObject object = owner.put(10);
  give(owner, "n1", object);
  owner.transport.close(owner.peers.peer("n1"), "cut");
  world.run();
  CHECK(error_of(nodes[0]->taken) == actors::Code::kUnavailable);
  world.connect(owner, "n1");
  give(owner, "n1", object);
  CHECK_FALSE(error_of(nodes[0]->taken));
}

TEST_CASE_METHOD(ObjectsFixture, "many gets at a time wait for one another", "[actors][objects]") {
  std::vector<FloatsObject> objects;
  std::vector<actors::Future<actors::View<Floats>>> views;
  for (std::size_t i = 0; i < 200; ++i) {
    give(owner, "n1", owner.put(i));
    objects.push_back(nodes[0]->taken);
  }
  views.reserve(objects.size());
  for (const FloatsObject& object : objects) views.push_back(object.get());
  world.run();
  for (std::size_t i = 0; i < views.size(); ++i) {
    REQUIRE(views[i].ready());
    CHECK(views[i].wait()->size() == i);
  }
}

TEST_CASE_METHOD(FourNodes, "the owner sends an object once while four nodes fetch it",
                 "[actors][objects]") {
  constexpr std::size_t kChunks = 12;
  const FloatsObject object = owner.put(kChunks * kChunkFloats);
  for (const char* name : {"n1", "n2", "n3", "n4"}) give(owner, name, object);
  std::vector<actors::Future<actors::View<Floats>>> views;
  for (ObjectProcess* node : nodes) views.push_back(node->taken.get());
  world.run();
  world.pass(200ms);
  for (const auto& view : views) {
    REQUIRE(view.ready());
    CHECK(view.wait()->size() == kChunks * kChunkFloats);
  }
  CHECK(owner.transport.sent_frame_bytes == kChunks * kObjectChunk);

  SECTION("a node that comes later fetches from one of them") {
    ObjectProcess& late = world.add("n5", Listens::kYes);
    world.connect(owner, "n5");
    give(owner, "n5", object);
    CHECK_FALSE(error_of(late.taken));
    CHECK(owner.transport.sent_frame_bytes == kChunks * kObjectChunk);
  }
}

TEST_CASE_METHOD(FourNodes, "a fetch goes on from another source when one goes",
                 "[actors][objects]") {
  constexpr std::size_t kChunks = 40;
  const FloatsObject object = owner.put(kChunks * kChunkFloats);
  for (const char* name : {"n1", "n2", "n3"}) give(owner, name, object);
  const auto first = nodes[0]->taken.get();
  world.run_some(4);
  const auto second = nodes[1]->taken.get();
  const auto third = nodes[2]->taken.get();
  // Until n2 fetches from n1.
  for (int i = 0; i < 100 && nodes[0]->transport.sent_frame_bytes == 0; ++i) {
    world.run_some(1);
    for (ObjectProcess* node : nodes) node->host.advance(20ms);
  }
  REQUIRE(nodes[0]->transport.sent_frame_bytes > 0);
  CHECK_FALSE(first.ready());
  nodes[0]->transport.stop();
  world.run();
  world.pass(4s);
  for (const auto& got : {second, third}) {
    REQUIRE(got.ready());
    CHECK((*got.wait())[kChunks * kChunkFloats - 1] > 0);
  }
  CHECK(owner.transport.sent_frame_bytes < 2 * kChunks * kObjectChunk);
}

TEST_CASE_METHOD(FourNodes, "a node passes on what it receives before it has all",
                 "[actors][objects]") {
  constexpr std::size_t kChunks = 40;
  const FloatsObject object = owner.put(kChunks * kChunkFloats);
  for (const char* name : {"n1", "n2"}) give(owner, name, object);
  world.connect(*nodes[1], "n1");
  const auto first = nodes[0]->taken.get();
  const auto second = nodes[1]->taken.get();  // its questions are at n1 before the bytes
  for (int i = 0; i < 1000 && !first.ready(); ++i) world.run_some(1);
  REQUIRE(first.ready());
  CHECK(nodes[0]->transport.sent_frame_bytes > kChunks / 2 * kObjectChunk);
  world.run();
  CHECK(second.ready());
}

TEST_CASE_METHOD(ObjectsFixture,
                 "an object without references stays while others fetch it from here",
                 "[actors][objects]") {
  constexpr std::size_t kChunks = 40;
  ObjectProcess& first = world.add("n3", Listens::kYes, {.memory_bytes = 50 * kObjectChunk});
  world.connect(owner, "n3");
  world.connect(*nodes[0], "n3");
  const FloatsObject object = owner.put(kChunks * kChunkFloats);
  for (const char* name : {"n3", "n1"}) give(owner, name, object);
  auto there = std::make_optional(first.taken.get());
  world.run_some(2);  // It asks the owner for a source first.
  const auto behind = nodes[0]->taken.get();
  for (int i = 0; i < 1000 && !there->ready(); ++i) world.run_some(1);
  REQUIRE(there->ready());
  REQUIRE_FALSE(behind.ready());
  there.reset();
  first.taken = {};
  world.run();
  REQUIRE(behind.ready());
  CHECK(owner.transport.sent_frame_bytes == kChunks * kObjectChunk);
  CHECK(first.memory() == kChunks * kObjectChunk);

  SECTION("and for a second after that") {
    world.pass(1s);
    CHECK(first.memory() == 0);
  }
  SECTION("and is there for a reference that comes meanwhile") {
    give(owner, "n3", object);
    world.pass(2s);
    CHECK_FALSE(error_of(first.taken));
    CHECK(owner.transport.sent_frame_bytes == kChunks * kObjectChunk);
  }
  SECTION("unless another one needs the room") {
    give(owner, "n3", owner.put(20 * kChunkFloats));
    CHECK_FALSE(error_of(first.taken));
  }
}

TEST_CASE_METHOD(ObjectsFixture, "a message that is not sent or not taken lends nothing",
                 "[actors][objects]") {
  const auto taker = owner.taker_at("n1");
  SECTION("it cannot be sent") {
    owner.transport.refuses_with = Error{Code::kOverloaded, "full"};
    CHECK(taker.tell(Give{owner.put(10)}).error().code == actors::Code::kOverloaded);
  }
  SECTION("its actor has ended") {
    nodes[0]->taker.stop();
    world.run();
    REQUIRE(taker.tell(Give{owner.put(10)}));
  }
  world.run();
  CHECK(owner.memory() == 0);
}

TEST_CASE_METHOD(ObjectsFixture, "a process without room refuses a get, and fetches when it has",
                 "[actors][objects]") {
  ObjectProcess& small = world.add("n3", Listens::kYes, {.memory_bytes = 60});
  world.connect(owner, "n3");
  give(owner, "n3", owner.put(10));
  FloatsObject own = small.put(10);
  CHECK(error_of(small.taken) == actors::Code::kOverloaded);
  own = {};
  world.run();
  CHECK_FALSE(error_of(small.taken));
}

TEST_CASE_METHOD(ObjectsFixture, "an object on the owner's disk is fetched from there",
                 "[actors][objects]") {
  ObjectProcess& small = world.add("n3", Listens::kNo, {.memory_bytes = 60, .disk_bytes = 100});
  world.connect(small, "n1");
  const FloatsObject one = small.put(10);
  const FloatsObject two = small.put(10);
  give(small, "n1", one);
  CHECK_FALSE(error_of(nodes[0]->taken));
  CHECK_FALSE(error_of(one));
  CHECK_FALSE(error_of(two));
}

TEST_CASE_METHOD(ObjectsFixture, "an object that comes home is the same object",
                 "[actors][objects]") {
  world.connect(*nodes[0], "owner");
  FloatsObject object = owner.put(10);
  give(owner, "n1", object);
  give(*nodes[0], "owner", nodes[0]->taken);
  CHECK(owner.taken == object);
  object = {};
  nodes[0]->taken = {};
  world.run();
  CHECK(owner.memory() == 40);
  owner.taken = {};
  world.run();
  CHECK(owner.memory() == 0);
}

TEST_CASE_METHOD(ObjectsFixture, "a loan that names an actor of this process is none",
                 "[actors][objects]") {
  const ActorRef<> here(local_actor(*owner.taker.target()).receiver);
  CHECK(borrow(here) == nullptr);
  CHECK(borrow(ActorRef<>()) == nullptr);
  world.run();
  CHECK(owner.taker.tell(Give{}));  // not stopped
}

TEST_CASE("bytes that come wrong are refused", "[actors][objects]") {
  ObjectMemory memory({});
  const ObjectInfo info{{1, 1}, 3, 0};
  IncomingObject incoming(info, *memory.allocate(3));
  REQUIRE(incoming.next());
  const auto frame = [](const char* text) {
    return Frames{
        {nullptr, reinterpret_cast<const std::byte*>(text), std::char_traits<char>::length(text)}};
  };
  CHECK(incoming.take(1, frame("b")).error().code == Code::kCorrupt);
  CHECK(incoming.take(0, frame("abcd")).error().code == Code::kCorrupt);
  CHECK(incoming.take(0, {}).error().code == Code::kCorrupt);
  CHECK(incoming.take(0, frame("ab")));
  CHECK_FALSE(incoming.is_complete());
  CHECK(incoming.take(2, frame("c")).error().code == Code::kCorrupt);  // the digest
  CHECK(incoming.is_complete());
}

}  // namespace forebay
