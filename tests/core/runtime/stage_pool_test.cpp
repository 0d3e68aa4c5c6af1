#include "core/runtime/stage_pool.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <thread>

#include "tests/core/runtime/pool_fixture.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::Gate;
using test::Log;
using test::options_for;
using test::Token;
using test::token;
using test::TokenPool;
using test::wait_until;

using Keys = std::vector<std::uint64_t>;

Keys up_to(std::uint64_t count) {
  Keys keys(count);
  for (std::uint64_t i = 0; i < count; ++i) keys[i] = i;
  return keys;
}

const SystemClock& system_clock() {
  static const SystemClock clock;
  return clock;
}

TEST_CASE("a pool of one serves in the order of arrival and drains on close", "[core][pool]") {
  Log<std::uint64_t> seen;
  Log<std::string> told;
  auto options = options_for([&](Token&& message, PoolContext&) -> Status {
    seen.add(*message.payload);
    return {};
  });
  options.on_drained = [&] { told.add("drained after " + std::to_string(seen.size())); };
  TokenPool pool(std::move(options), system_clock());
  pool.grow(1);
  for (std::uint64_t key = 0; key < 100; ++key) REQUIRE(pool.offer(token(key), 1));
  pool.close();
  pool.join();
  CHECK(seen.entries() == up_to(100));
  CHECK(told.entries() == std::vector<std::string>{"drained after 100"});
  CHECK(pool.actors() == 0);
}

TEST_CASE("a pool with lowest-key order serves the lowest key first", "[core][pool]") {
  Log<std::uint64_t> seen;
  auto options = options_for([&](Token&& message, PoolContext&) -> Status {
    seen.add(message.key);
    return {};
  });
  options.order = PoolOrder::kLowestKey;
  TokenPool pool(std::move(options), system_clock());
  for (const std::uint64_t key : {7U, 2U, 9U, 1U}) REQUIRE(pool.offer(token(key), 1));
  pool.grow(1);
  pool.close();
  pool.join();
  CHECK(seen.entries() == Keys{1, 2, 7, 9});
}

TEST_CASE("an offer waits until the mailbox has room", "[core][pool]") {
  Log<std::uint64_t> seen;
  auto options = options_for([&](Token&& message, PoolContext&) -> Status {
    seen.add(message.key);
    return {};
  });
  options.mailbox_bytes = 100;
  TokenPool pool(std::move(options), system_clock());
  REQUIRE(pool.offer(token(0), 60));
  std::thread second([&] { CHECK(pool.offer(token(1), 60)); });
  wait_until([&] { return pool.stats().waiting_offers == 1; });
  CHECK(pool.stats().queued_messages == 1);
  CHECK(pool.stats().queued_bytes == 60);

  Token refused = token(2);
  const Status status = pool.try_offer(std::move(refused), 60);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == Code::kOverloaded);
  REQUIRE(refused.payload != nullptr);
  CHECK(*refused.payload == 2);

  pool.grow(1);
  second.join();
  pool.close();
  pool.join();
  CHECK(seen.entries() == Keys{0, 1});
}

TEST_CASE("a closed pool refuses new and waiting offers and hands their message back",
          "[core][pool]") {
  auto options = options_for([](Token&&, PoolContext&) -> Status { return {}; });
  options.mailbox_bytes = 0;
  TokenPool pool(std::move(options), system_clock());
  REQUIRE(pool.offer(token(0), 1));
  std::thread waiting([&] {
    Token mine = token(5);
    CHECK_FALSE(pool.offer(std::move(mine), 1));
    REQUIRE(mine.payload != nullptr);
    CHECK(*mine.payload == 5);
  });
  wait_until([&] { return pool.stats().waiting_offers == 1; });
  pool.close();
  waiting.join();
  CHECK_FALSE(pool.offer(token(6), 1));
  const Status status = pool.try_offer(token(6), 1);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == Code::kUnavailable);
}

TEST_CASE("raising a mailbox's bound admits waiting offers and keeps queued messages",
          "[core][pool]") {
  auto options = options_for([](Token&&, PoolContext&) -> Status { return {}; });
  options.mailbox_bytes = 20;
  TokenPool pool(std::move(options), system_clock());
  REQUIRE(pool.offer(token(0), 10));
  REQUIRE(pool.offer(token(1), 10));
  std::thread offering([&] { CHECK(pool.offer(token(2), 10)); });
  wait_until([&] { return pool.stats().waiting_offers == 1; });
  CHECK(pool.queued() == 2);

  pool.set_mailbox_bytes(30);
  offering.join();
  CHECK(pool.queued() == 3);

  pool.set_mailbox_bytes(10);  // 30 are queued already.
  CHECK(pool.queued() == 3);
  CHECK_FALSE(pool.try_offer(token(3), 10));
  pool.cancel();
}

TEST_CASE("a cancelled pool drops queued messages and finishes held ones", "[core][pool]") {
  Gate gate;
  Log<std::uint64_t> begun;
  Log<std::uint64_t> done;
  Log<int> drained;
  auto options = options_for([&](Token&& message, PoolContext& context) -> Status {
    begun.add(message.key);
    gate.pass();
    CHECK(context.cancelled());
    done.add(message.key);
    return {};
  });
  options.on_drained = [&] { drained.add(1); };
  TokenPool pool(std::move(options), system_clock());
  pool.grow(2);
  for (std::uint64_t key = 0; key < 10; ++key) REQUIRE(pool.offer(token(key), 1));
  wait_until([&] { return begun.size() == 2; });
  pool.cancel();
  gate.open();
  pool.join();
  CHECK(done.size() == 2);
  CHECK(drained.size() == 0);
  pool.grow(3);
  CHECK(pool.actors() == 0);
}

/// A pool whose actors note each message, and wait at a gate before they are done with it.
struct GatedPool {
  Gate gate;
  Log<std::uint64_t> begun;
  Log<std::uint64_t> done;
  TokenPool pool{options_for([this](Token&& message, PoolContext&) -> Status {
                   begun.add(message.key);
                   gate.pass();
                   done.add(message.key);
                   return {};
                 }),
                 system_clock()};
};

TEST_CASE("a retiring actor finishes the message it holds", "[core][pool]") {
  GatedPool gated;
  TokenPool& pool = gated.pool;
  pool.grow(2);
  REQUIRE(pool.offer(token(0), 1));
  REQUIRE(pool.offer(token(1), 1));
  wait_until([&] { return gated.begun.size() == 2; });
  REQUIRE(pool.offer(token(2), 1));
  pool.resize(1);
  CHECK(pool.actors() == 2);
  CHECK(pool.retiring() == 1);
  gated.gate.open();
  wait_until([&] { return pool.actors() == 1 && gated.done.size() == 3; });
  CHECK(pool.retiring() == 0);

  SECTION("a later grow cancels it before the actor ends") {
    pool.resize(0);
    pool.resize(2);
    wait_until([&] { return pool.actors() - pool.retiring() == 2; });
  }
}

TEST_CASE(
    "a pool resized to none serves what is queued, and what comes later, and has no actor then",
    "[core][pool]") {
  GatedPool gated;
  TokenPool& pool = gated.pool;
  pool.grow(2);
  for (std::uint64_t key = 0; key < 6; ++key) REQUIRE(pool.offer(token(key), 1));
  wait_until([&] { return gated.begun.size() == 2; });
  pool.resize(0);
  CHECK(pool.retiring() == 2);
  gated.gate.open();
  wait_until([&] { return pool.actors() == 0; });
  CHECK(gated.done.size() == 6);

  REQUIRE(pool.offer(token(6), 1));
  wait_until([&] { return gated.done.size() == 7 && pool.actors() == 0; });

  SECTION("until it has actors again") {
    pool.resize(1);
    REQUIRE(pool.offer(token(7), 1));
    wait_until([&] { return gated.done.size() == 8; });
    CHECK(pool.actors() == 1);
    CHECK(pool.retiring() == 0);
  }
}

TEST_CASE("each failure is reported once, with its own message, and the pool goes on",
          "[core][pool]") {
  Log<std::string> failures;
  Log<int> made;
  auto options = options_for(nullptr);
  options.factory = [&] {
    made.add(1);
    return std::make_unique<test::FunctionWorker>([](Token&& message, PoolContext&) -> Status {
      if (message.key == 1) return fail(Code::kCorrupt, "row 7 is damaged");
      if (message.key == 2) throw std::runtime_error("no such symbol");
      if (message.key == 3) throw 42;
      return {};
    });
  };
  options.on_failure = [&](const Error& error) { failures.add(error.message); };
  TokenPool pool(std::move(options), system_clock());
  pool.grow(1);
  for (std::uint64_t key = 0; key < 5; ++key) REQUIRE(pool.offer(token(key), 1));
  pool.close();
  pool.join();
  CHECK(failures.entries() == std::vector<std::string>{"row 7 is damaged", "no such symbol",
                                                       "an exception without words"});
  CHECK(made.size() == 3);  // The first, and one after each throw.
  CHECK(pool.stats().failures == 3);
  CHECK(pool.stats().totals.messages == 5);
}

TEST_CASE("a worker that cannot be made is a failure and its actor ends", "[core][pool]") {
  Log<std::string> failures;
  auto options = options_for(nullptr);
  options.factory = []() -> std::unique_ptr<PoolWorker<Token>> {
    throw std::runtime_error("no memory for a worker");
  };
  options.on_failure = [&](const Error& error) { failures.add(error.message); };
  TokenPool pool(std::move(options), system_clock());
  pool.grow(2);
  wait_until([&] { return pool.actors() == 0; });
  CHECK(failures.entries() == std::vector<std::string>(2, "no memory for a worker"));
}

TEST_CASE("an actor's thread has the pool's name and its number", "[core][pool]") {
  Log<std::string> names;
  auto options = options_for([&](Token&&, PoolContext& context) -> Status {
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    names.add(name.data() + std::string("/") + std::to_string(context.actor()));
    return {};
  });
  options.name = "transformation";
  TokenPool pool(std::move(options), system_clock());
  pool.grow(1);
  // The creator names the thread, before grow() returns.
  REQUIRE(pool.offer(token(0), 1));
  pool.close();
  pool.join();
  CHECK(names.entries() == std::vector<std::string>{"transformatio-0/0"});
}

TEST_CASE("a pool without actors drains as soon as it is closed", "[core][pool]") {
  Log<int> drained;
  auto options = options_for(nullptr);
  options.on_drained = [&] { drained.add(1); };
  TokenPool pool(std::move(options), system_clock());
  pool.close();
  pool.close();
  CHECK(drained.size() == 1);
}

}  // namespace
}  // namespace forebay
