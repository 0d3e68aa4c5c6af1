#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <forebay/actor.h>

#include "core/base/random.h"
#include "core/node/node.h"
#include "engine/actors/local_target.h"
#include "engine/actors/objects/objects.h"
#include "engine/network/network_endpoint.h"
#include "tests/support/local_network.h"
#include "tests/support/test_host.h"

#include "tests/support/catch.h"

namespace forebay::test {

using Floats = std::vector<float>;
using FloatsObject = actors::Object<Floats>;

struct Give {
  static constexpr std::string_view kTag = "object_world/give";
  FloatsObject object;
  static auto fields(auto& self) { return std::tie(self.object); }
};

/// Keeps the object that it was given last where the test sees it.
struct Taker : actors::Actor<Taker, Give> {
  explicit Taker(FloatsObject* into) : taken(into) {}
  void on(const Give& give) { *taken = give.object; }
  FloatsObject* taken;
};

/// A process with objects and a Taker; without threads.
struct ObjectProcess {
  ObjectProcess(LocalNetwork& network, std::uint64_t number, const std::string& name, bool listens,
                const actors::ObjectLimits& limits)
      : transport(network),
        node(host.host(), transport),
        users(host.host(),
              {.limits = limits,
               .store = {.process = number,
                         .address = listens ? name : "",
                         .connect = [this](const std::string& to) { return transport.connect(to); },
                         .find =
                             [this](const std::string& at) {
                               return find<ObjectStoreRef>(at, kObjectStoreName);
                             }}}) {
    node.start();
    node.subscribe(
        host.spawn({.name = "peers"}, [this] { return std::make_unique<PeerRegistry>(peers); }));
    node.publish(std::string(kObjectStoreName), ObjectStoreRef(users.objects().store()));
    taker = actors::spawn_at<Taker>(users, {.name = "taker"}, &taken);
    node.publish("taker", UserRef(local_actor(*taker.target()).receiver));
    static_cast<void>(transport.listen(name));
  }
  ~ObjectProcess() {
    transport.stop();
    taken = {};
  }
  ObjectProcess(const ObjectProcess&) = delete;
  ObjectProcess& operator=(const ObjectProcess&) = delete;

  template <class Ref>
  Ref find(const std::string& address, std::string_view name) {
    const PeerId peer = peers.peer(address);
    return peer == PeerId::kNone ? Ref() : node.actor<Ref>(peer, name);
  }
  /// The Taker of the process that this one has connected to.
  Taker::Ref taker_at(const std::string& address) {
    return Taker::Ref(std::make_shared<LocalTarget>(find<UserRef>(address, "taker"), users));
  }
  /// An object whose numbers begin with 0, 1, 2.
  FloatsObject put(std::size_t count) {
    Floats values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
    auto object = actors::put_at(users.objects(), std::move(values));
    REQUIRE(object);
    return *object;
  }
  std::uint64_t memory() { return users.objects().memory().memory_bytes(); }

  TestHost host;
  LocalTransport transport;
  PeerRegistry::Table peers;
  Node node;
  UserHost users;
  FloatsObject taken;
  Taker::Ref taker;
};

/// Processes and their network.
class ObjectWorld {
 public:
  enum class Listens : bool { kNo, kYes };

  ~ObjectWorld() {
    for (ObjectProcess& one : processes_) one.transport.stop();
    run();
  }

  ObjectProcess& add(const std::string& name, Listens listens,
                     const actors::ObjectLimits& limits = {}) {
    return processes_.emplace_back(network_, processes_.size() + 1, name, listens == Listens::kYes,
                                   limits);
  }
  void connect(ObjectProcess& from, const std::string& to) {
    REQUIRE(from.transport.connect(to));
    run();
  }
  /// Delivers until no message is left.
  void run() {
    bool moved = true;
    while (moved) {
      moved = network_.deliver_one();
      for (ObjectProcess& one : processes_) moved = one.host.deliver_all() > 0 || moved;
    }
  }
  /// Delivers until no message is left, in an order that `random` draws.
  void run(Random& random) {
    std::vector<std::function<bool()>> movers = {[this] { return network_.deliver_one(); }};
    for (ObjectProcess& one : processes_) {
      movers.emplace_back([&one] { return one.host.deliver_one(); });
    }
    const auto moves = [](const std::function<bool()>& mover) { return mover(); };
    while (movers[random.below(movers.size())]() || std::ranges::any_of(movers, moves)) {
    }
  }
  /// Delivers so many messages of the network.
  void run_some(int messages) {
    for (int i = 0; i < messages; ++i) {
      network_.deliver_one();
      for (ObjectProcess& one : processes_) one.host.deliver_all();
    }
  }
  /// Runs while so much time goes by, in steps.
  void pass(std::chrono::milliseconds time) {
    for (auto step = std::chrono::milliseconds(0); step < time;
         step += std::chrono::milliseconds(20)) {
      for (ObjectProcess& one : processes_) one.host.advance(std::chrono::milliseconds(20));
      run();
    }
  }

 private:
  LocalNetwork network_;
  std::list<ObjectProcess> processes_;
};

}  // namespace forebay::test
