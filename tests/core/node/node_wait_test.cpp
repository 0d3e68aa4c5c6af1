#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/net/zmq/zmq_transport.h"
#include "core/node/node.h"
#include "core/runtime/actor_host.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

struct Twice {
  static constexpr std::string_view kTag = "node_wait_test.twice/1";
  using Reply = std::int64_t;
  std::int64_t number = 0;
  static auto fields(auto& self) { return std::tie(self.number); }
};
struct Keep {
  static constexpr std::string_view kTag = "node_wait_test.keep/1";
  static auto fields(auto&) { return std::tie(); }
};

/// Answers a Twice at once, a Keep never.
class AnswererActor final : public ActorOf<AnswererActor, Twice, Keep> {
 public:
  Result<std::int64_t> on(const Twice& twice, Context&) { return 2 * twice.number; }
  Status on(Keep&&, std::unique_ptr<Replier<void>>& asker, Context&) {
    kept_.push_back(std::move(asker));
    return {};
  }

 private:
  std::vector<std::unique_ptr<Replier<void>>> kept_;
};
using AnswererRef = ActorRef<Twice, Keep>;

class FirstPeerActor final : public ActorOf<FirstPeerActor, PeerUp, PeerDown> {
 public:
  explicit FirstPeerActor(std::promise<PeerId>& peer) : peer_(peer) {}
  Status on(const PeerUp& up, Context&) {
    peer_.set_value(up.peer);
    return {};
  }
  Status on(const PeerDown&, Context&) { return {}; }

 private:
  std::promise<PeerId>& peer_;
};

/// A node with everything it depends on.
struct WholeNode {
  WholeNode()
      : system({.executor = {.name = "test", .threads = 1}, .on_unheard = {}}, clock),
        transport(ZmqTransport::make({}, clock)),
        node(system.host(), *transport) {
    node.start();
  }
  ~WholeNode() {
    transport->stop();
    system.shutdown(ActorHost::Stop::kNow);
  }

  const SystemClock clock;
  ActorSystem system;
  const std::unique_ptr<ZmqTransport> transport;
  Node node;
};

/// A node that asks an actor on another one, over TCP.
struct TwoWholeNodes {
  TwoWholeNodes() {
    there.node.publish("answerer", there.system.spawn({.name = "answerer"}, [] {
      return std::make_unique<AnswererActor>();
    }));
    std::promise<PeerId> peer;
    here.node.subscribe(here.system.spawn({.name = "peers"},
                                          [&] { return std::make_unique<FirstPeerActor>(peer); }));
    REQUIRE(here.transport->connect(there.transport->listen("127.0.0.1:0").value()));
    far = here.node.actor<AnswererRef>(peer.get_future().get(), "answerer");
  }

  WholeNode there;
  WholeNode here;
  AnswererRef far;
};

TEST_CASE("threads that wait for answers at once get each its own", "[core][node]") {
  TwoWholeNodes nodes;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::int64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (std::int64_t k = 0; k < 300; ++k) {
        const auto answer = ask(nodes.far, Twice{1000 * i + k}, 60s).wait();
        if (!answer || *answer != 2 * (1000 * i + k)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("an answer that comes before it is waited for is there", "[core][node]") {
  TwoWholeNodes nodes;
  auto first = ask(nodes.far, Twice{1}, 60s);
  auto second = ask(nodes.far, Twice{2}, 60s);
  CHECK(second.wait() == 4);
  CHECK(first.wait() == 2);
}

TEST_CASE("a thread that does its transport's work hears that time is over", "[core][node]") {
  TwoWholeNodes nodes;
  for (int i = 0; i < 20; ++i) {
    CHECK(ask(nodes.far, Keep{}, 5ms).wait().error().code == Code::kTimeout);
  }
}

TEST_CASE("a thread that waits hears of the end of the transport, whose work it does",
          "[core][node]") {
  TwoWholeNodes nodes;
  auto answer = ask(nodes.far, Keep{}, 60s);
  Status heard;
  std::thread waiting([&] { heard = answer.wait(); });
  nodes.here.transport->stop();
  waiting.join();
  REQUIRE_FALSE(heard);
  CHECK(heard.error().code == Code::kUnavailable);
}

}  // namespace
}  // namespace forebay
