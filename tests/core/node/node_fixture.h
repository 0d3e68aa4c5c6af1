#pragma once

#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/node/node.h"
#include "tests/support/faulty_transport.h"
#include "tests/support/local_network.h"
#include "tests/support/test_host.h"

namespace forebay::test {

struct Add {
  static constexpr std::string_view kTag = "node_test.add/1";
  std::int64_t amount = 0;
  static auto fields(auto& self) { return std::tie(self.amount); }
};

struct Sum {
  static constexpr std::string_view kTag = "node_test.sum/1";
  using Reply = std::int64_t;
  static auto fields(auto&) { return std::tie(); }
};

struct Cargo {
  static constexpr std::string_view kTag = "node_test.cargo/1";
  Frames frames;
  static auto fields(auto& self) { return std::tie(self.frames); }
};

/// Has no list of fields: cannot be sent to another node.
struct Local {
  static constexpr std::string_view kTag = "node_test.local/1";
};

struct End {
  static constexpr std::string_view kTag = "node_test.end/1";
  bool badly = false;
  static auto fields(auto& self) { return std::tie(self.badly); }
};

/// Adds up. Refuses a negative amount; keeps a sum unanswered while `mute`.
class TallyActor final : public ActorOf<TallyActor, Add, Sum, Cargo, Local, End> {
 public:
  Status on(const Add& add, Context&) {
    if (add.amount < 0) return fail(Code::kInvalid, "a negative amount");
    sum_ += add.amount;
    return {};
  }
  Result<std::int64_t> on(const Sum&, Context&) { return sum_; }
  Status on(const Cargo& cargo, Context&) {
    sum_ += static_cast<std::int64_t>(forebay::bytes_of(cargo.frames));
    return {};
  }
  Status on(const Local&, Context&) { return {}; }
  Status on(const End& end, Context& context) {
    if (end.badly) throw std::runtime_error("it broke");
    context.stop();
    return {};
  }

 private:
  std::int64_t sum_ = 0;
};

using TallyRef = ActorRef<Add, Sum, Cargo, End>;

/// Makes an actor send to the tally in the message.
struct Introduce {
  static constexpr std::string_view kTag = "node_test.introduce/1";
  using Reply = TallyRef;
  TallyRef tally;
  static auto fields(auto& self) { return std::tie(self.tally); }
};

/// Adds 100 to each tally that it is introduced to, and returns its ref.
class FriendActor final : public ActorOf<FriendActor, Introduce> {
 public:
  Result<TallyRef> on(const Introduce& introduce, Context&) {
    if (Status status = introduce.tally.tell(Add{100}); !status) return pass(status);
    return introduce.tally;
  }
};

/// Recorded deaths and peers.
struct Notes {
  std::vector<Down> downs;
  std::vector<PeerUp> ups;
  std::vector<PeerDown> peer_downs;
};

class WitnessActor final : public ActorOf<WitnessActor, Down, PeerUp, PeerDown> {
 public:
  explicit WitnessActor(Notes& notes) : notes_(notes) {}
  Status on(Down&& down, Context&) {
    notes_.downs.push_back(std::move(down));
    return {};
  }
  Status on(PeerUp&& up, Context&) {
    notes_.ups.push_back(std::move(up));
    return {};
  }
  Status on(PeerDown&& down, Context&) {
    notes_.peer_downs.push_back(std::move(down));
    return {};
  }

 private:
  Notes& notes_;
};

/// A host, its transport and its node; without threads.
struct TestNode {
  explicit TestNode(LocalNetwork& network, const Node::Options& options = {},
                    const FaultyTransport::Faults& faults = {}, std::uint64_t seed = 0)
      : transport(network), faulty(transport, faults, seed), node(host.host(), faulty, options) {
    node.start();
    node.subscribe(witness);
    node.publish("tally", TallyRef(tally));
    node.publish("friend",
                 host.spawn({.name = "friend"}, [] { return std::make_unique<FriendActor>(); }));
  }
  ~TestNode() { transport.stop(); }

  PeerId peer() {
    host.deliver_all();
    return notes.ups.back().peer;
  }

  TestHost host;
  Notes notes;
  LocalTransport transport;
  FaultyTransport faulty;
  Node node;
  TallyActor::Ref tally = host.spawn({.name = "tally", .mailbox_bytes = 2000},
                                     [] { return std::make_unique<TallyActor>(); });
  WitnessActor::Ref witness =
      host.spawn({.name = "witness"}, [this] { return std::make_unique<WitnessActor>(notes); });
};

/// Delivers messages of the network and of the nodes' actors until no message is left.
inline void deliver_all(LocalNetwork& network, std::initializer_list<TestNode*> nodes) {
  bool moved = true;
  while (moved) {
    moved = network.deliver_one();
    for (TestNode* node : nodes) moved = node->host.deliver_all() > 0 || moved;
  }
}

}  // namespace forebay::test
