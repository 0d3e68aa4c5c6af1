#include "tests/core/node/node_fixture.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using namespace test;

/// One history: tells, questions and introductions between two nodes, with faults by seed.
struct History {
  explicit History(std::uint64_t seed)
      : there(network, {}, faults(), seed), here(network, {}, faults(), ~seed), random(seed) {
    REQUIRE(there.transport.listen("there"));
    connect();
  }

  static FaultyTransport::Faults faults() {
    return {.drop = 0.05, .repeat = 0.05, .hold = 0.1, .corrupt = 0.02, .cut = 0.005};
  }

  void connect() {
    REQUIRE(here.transport.connect("there"));
    while (network.deliver_one()) {
    }
    far = here.node.actor<TallyRef>(here.peer(), "tally");
    far_friend = here.node.actor<ActorRef<Introduce>>(here.peer(), "friend");
  }

  void move() {
    network.deliver_one();
    here.host.deliver_one();
    there.host.deliver_one();
  }

  void step() {
    switch (random.below(6)) {
      case 0:
        static_cast<void>(far.tell(Add{1}));
        break;
      case 1:
        sums.push_back(ask(far, Sum{}, 1s));
        break;
      case 2:
        tallies.push_back(ask(far_friend, Introduce{here.tally}, 1s));
        break;
      case 3:
        watch(far, ActorRef<Down>(here.witness));
        ++watches;
        break;
      default:
        move();
    }
    if (here.notes.peer_downs.size() == here.notes.ups.size()) connect();
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) step();
    here.faulty.set_faults({});
    there.faulty.set_faults({});
    here.faulty.release();
    there.faulty.release();
    for (int i = 0; i < 20 * steps; ++i) move();
    here.host.advance(2s);
    here.transport.stop();
    here.host.deliver_all();
    there.host.deliver_all();
  }

  LocalNetwork network;
  TestNode there;
  TestNode here;
  Random random;
  TallyRef far;
  ActorRef<Introduce> far_friend;
  std::vector<Answer<std::int64_t>> sums;
  std::vector<Answer<TallyRef>> tallies;
  std::size_t watches = 0;
};

TEST_CASE("every ask and every watch ends, whatever happens to messages on the way",
          "[core][node]") {
  FaultyTransport::Counts sum;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    History history(seed);
    history.run(300);
    for (const auto& answer : history.sums) REQUIRE(answer.ready());
    for (const auto& answer : history.tallies) REQUIRE(answer.ready());
    REQUIRE(history.here.notes.downs.size() == history.watches);
    const auto& counts = history.there.faulty.counts();
    sum.dropped += counts.dropped;
    sum.repeated += counts.repeated;
    sum.held += counts.held;
    sum.corrupted += counts.corrupted;
    sum.cut += counts.cut;
  }
  // The faults did occur.
  CHECK(sum.dropped > 100);
  CHECK(sum.repeated > 100);
  CHECK(sum.held > 100);
  CHECK(sum.corrupted > 50);
  CHECK(sum.cut > 10);
}

}  // namespace
}  // namespace forebay
