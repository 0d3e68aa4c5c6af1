#include <future>

#include "core/store/store.h"
#include "engine/cluster/head_node.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a query to a head that is just starting waits for it", "[tools][cluster]") {
  const SystemClock clock;
  auto net = NetworkEndpoint::make({.keys = "", .received = nullptr, .say = {}}, clock);
  REQUIRE(net);
  const auto address = (*net)->listen("127.0.0.1:0");
  REQUIRE(address);
  auto look = HeadLook::open(*address, "");
  REQUIRE(look);

  auto told = std::async(std::launch::async, [&] { return (*look)->look(60s); });
  test::wait_until([&] { return (*net)->node().counts().unknown_actor > 0; });
  MemoryStore store;
  REQUIRE(start_head(**net, store, {}));

  const auto status = told.get();
  REQUIRE(status);
  CHECK(status->nodes.empty());
  (*net)->stop();
  (*net)->actors().shutdown(ActorHost::Stop::kNow);
}

}  // namespace
}  // namespace forebay
