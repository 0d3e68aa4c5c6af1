#include "core/runtime/turn_meter.h"

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>

#include "core/runtime/actor.h"
#include "tests/support/test_host.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

struct Work {
  static constexpr std::string_view kTag = "test.work/1";
  std::function<void()> work;
};

struct Worker final : ActorOf<Worker, Work> {
  Status on(Work&& work, Context&) {
    work.work();
    return {};
  }
};

}  // namespace

TEST_CASE("a meter has the time of an actor's turns, the one that goes on included",
          "[core][runtime]") {
  test::TestHost host;
  const auto meter = std::make_shared<TurnMeter>();
  const auto worker = host.spawn({.name = "worker", .restart = {.restarts = 1}, .meter = meter},
                                 [] { return std::make_unique<Worker>(); });
  host.advance(1s);
  REQUIRE(worker.tell(Work{[&] {
    host.advance(3s);
    CHECK(meter->busy(host.clock().now()) == 3s);
  }}));
  CHECK(worker.receiver()->waiting_bytes() >= sizeof(Work));
  host.deliver_all();
  CHECK(worker.receiver()->waiting_bytes() == 0);
  host.advance(5s);
  CHECK(meter->busy(host.clock().now()) == 3s);
  CHECK(meter->crashes() == 0);
  REQUIRE(worker.tell(Work{[] { throw std::runtime_error("it broke"); }}));
  host.deliver_all();
  CHECK(meter->crashes() == 1);
}

}  // namespace forebay
