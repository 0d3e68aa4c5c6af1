#include "engine/network/network_endpoint.h"

#include <atomic>
#include <memory>
#include <string_view>

#include "core/base/clock.h"
#include "core/runtime/actor.h"
#include "core/runtime/actor_host.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

struct Owner {
  SystemClock clock;
  std::unique_ptr<NetworkEndpoint> net =
      std::move(NetworkEndpoint::make({.keys = "", .received = nullptr, .say = {}}, clock).value());
};

struct Nothing {
  static constexpr std::string_view kTag = "test.nothing/1";
};

/// Looks through its owner's pointer as it ends.
class LastLook final : public ActorOf<LastLook, Nothing> {
 public:
  LastLook(const Owner& owner, std::atomic<bool>& looked) : owner_(owner), looked_(looked) {}
  ~LastLook() override { looked_ = owner_.net != nullptr && !owner_.net->reaches("127.0.0.1:1"); }

  Status on(const Nothing& /*message*/, Context& /*context*/) { return {}; }

 private:
  const Owner& owner_;
  std::atomic<bool>& looked_;
};

}  // namespace

TEST_CASE("actors may use the endpoint until they have ended", "[engine][cluster]") {
  std::atomic<bool> looked = false;
  Owner owner;
  owner.net->actors().spawn({.name = "last look"},
                            [&] { return std::make_unique<LastLook>(owner, looked); });
  owner.net->end();
  CHECK(looked);
  owner.net->end();  // A second time does nothing.
  owner.net.reset();
}
