#include "core/runtime/pool/actor_meter.h"

#include <thread>

#include "core/runtime/stage_pool.h"
#include "tests/core/runtime/pool_fixture.h"
#include "tests/support/manual_clock.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using test::Gate;
using test::ManualClock;
using test::options_for;
using test::Token;
using test::token;
using test::TokenPool;
using test::wait_until;

TEST_CASE("a meter sums time by state and counts the running interval", "[core][pool]") {
  ActorMeter meter(100ns);
  meter.start_message(7, 110ns);                   // idle 10
  meter.enter(ActorState::kWaitingOutput, 130ns);  // busy 20
  meter.enter(ActorState::kBusy, 170ns);           // waiting 40
  meter.finish_message(50, 175ns);                 // busy 5
  meter.start_message(8, 275ns);                   // idle 100

  const ActorMeter::Reading reading = meter.read(300ns);  // busy 25, still running
  CHECK(reading.totals.wait_input == 110ns);
  CHECK(reading.totals.busy == 50ns);
  CHECK(reading.totals.wait_output == 40ns);
  CHECK(reading.totals.messages == 1);
  CHECK(reading.totals.bytes == 50);
  CHECK(reading.state == ActorState::kBusy);
  CHECK(reading.since == 275ns);
  CHECK(reading.key == 8);
}

TEST_CASE("a meter read while it is written is never torn", "[core][pool]") {
  ActorMeter meter(0ns);
  std::thread writer([&] {
    // Every message: idle 1 ns, busy 2 ns. So at its end busy = 2 messages and
    // idle = messages.
    for (std::int64_t i = 0; i < 30000; ++i) {
      meter.start_message(static_cast<std::uint64_t>(i), std::chrono::nanoseconds(3 * i + 1));
      meter.finish_message(5, std::chrono::nanoseconds(3 * i + 3));
    }
  });
  std::uint64_t messages = 0;
  while (messages < 30000) {
    const auto reading = meter.read(0ns);
    messages = reading.totals.messages;
    REQUIRE(reading.totals.bytes == 5 * messages);
    REQUIRE(static_cast<std::uint64_t>(reading.totals.busy.count()) == 2 * messages);
    const auto idle = static_cast<std::uint64_t>(reading.totals.wait_input.count());
    REQUIRE(idle == messages + (reading.state == ActorState::kBusy ? 1 : 0));
  }
  writer.join();
}

TEST_CASE("a pool's counters are exact and show an actor that is stuck", "[core][pool]") {
  ManualClock clock;
  Gate inner_gate;
  Gate outer_gate;
  auto slow_options = options_for([&](Token&&, PoolContext&) -> Status {
    inner_gate.pass();
    return {};
  });
  slow_options.mailbox_bytes = 0;
  TokenPool slow(std::move(slow_options), clock);
  TokenPool fast(options_for([&](Token&& message, PoolContext& context) -> Status {
                   outer_gate.pass();
                   if (!slow.offer(std::move(message), 1, context)) {
                     return fail(Code::kUnavailable, "closed");
                   }
                   return {};
                 }),
                 clock);
  slow.grow(1);
  REQUIRE(slow.offer(token(1), 1));
  wait_until([&] { return slow.stats().each.at(0).state == ActorState::kBusy; });
  REQUIRE(slow.offer(token(2), 1));  // The mailbox is full now.
  fast.grow(1);
  clock.advance(3ns);  // fast waits for input, slow is busy
  REQUIRE(fast.offer(token(3), 1));
  wait_until([&] { return fast.stats().each.at(0).state == ActorState::kBusy; });
  clock.advance(10ns);  // fast is busy at the outer gate
  CHECK(fast.stats().totals.busy == 10ns);
  outer_gate.open();
  wait_until([&] { return fast.stats().each.at(0).state == ActorState::kWaitingOutput; });
  clock.advance(100ns);  // fast waits for output

  const PoolStats stats = fast.stats();
  CHECK(stats.totals.wait_input == 3ns);
  CHECK(stats.totals.busy == 10ns);
  CHECK(stats.totals.wait_output == 100ns);
  CHECK(stats.totals.messages == 0);
  CHECK(stats.each.at(0).since == 13ns);
  CHECK(stats.each.at(0).key == 3);
  CHECK(slow.stats().totals.busy == 113ns);
  CHECK(slow.stats().waiting_offers == 1);

  inner_gate.open();
  fast.close();
  fast.join();
  slow.close();
  slow.join();
  CHECK(fast.stats().totals.wait_output == 100ns);  // Kept after the actor has ended.
  CHECK(fast.stats().totals.messages == 1);
  CHECK(slow.stats().totals.messages == 3);
  CHECK(slow.stats().totals.bytes == 3);
}

TEST_CASE("a pool counts the processor time of its actors", "[core][pool]") {
  const SystemClock clock;
  TokenPool pool(options_for([](Token&&, PoolContext&) -> Status {
                   volatile std::uint64_t sum = 0;
                   for (std::uint64_t i = 0; i < 200000; ++i) sum = sum + i;
                   return {};
                 }),
                 clock);
  pool.grow(1);
  REQUIRE(pool.offer(token(1), 1));
  pool.close();
  pool.join();
  const ActorTotals totals = pool.stats().totals;
  CHECK(totals.cpu > 0ns);
  CHECK(totals.busy > 0ns);
}

}  // namespace
}  // namespace forebay
