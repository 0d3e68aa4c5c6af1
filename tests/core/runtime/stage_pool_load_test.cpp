#include <algorithm>
#include <atomic>
#include <thread>

#include "core/base/random.h"
#include "core/runtime/stage_pool.h"
#include "tests/core/runtime/pool_fixture.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::Log;
using test::options_for;
using test::Token;
using test::token;
using test::TokenPool;

constexpr std::uint64_t kSenders = 4;
constexpr std::uint64_t kMessagesEach = 1500;

/// Lets senders offer all keys while random resizes hit both pools of a row of
/// two.
std::vector<std::uint64_t> run_under_resizes(std::uint64_t seed, PoolOrder order) {
  const SystemClock clock;
  Log<std::uint64_t> seen;
  auto last_options = options_for([&](Token&& message, PoolContext&) -> Status {
    seen.add(*message.payload);
    return {};
  });
  last_options.mailbox_bytes = 64;
  last_options.order = order;
  TokenPool last(std::move(last_options), clock);
  auto first_options = options_for([&](Token&& message, PoolContext& context) -> Status {
    if (!last.offer(std::move(message), 16, context)) return fail(Code::kUnavailable, "closed");
    return {};
  });
  first_options.mailbox_bytes = 100;
  first_options.order = order;
  first_options.on_drained = [&] { last.close(); };
  TokenPool first(std::move(first_options), clock);
  first.grow(2);
  last.grow(2);

  std::vector<std::thread> senders;
  for (std::uint64_t sender = 0; sender < kSenders; ++sender) {
    senders.emplace_back([&, sender] {
      Random random(seed + sender);
      for (std::uint64_t i = 0; i < kMessagesEach; ++i) {
        CHECK(first.offer(token(sender * kMessagesEach + i), 1 + random.below(60)));
      }
    });
  }
  Random random(seed);
  while (seen.size() < kSenders * kMessagesEach / 2) {
    TokenPool& pool = random.below(2) == 0 ? first : last;
    if (random.below(3) == 0) {
      pool.grow(random.below(3));
    } else {
      pool.resize(random.below(6));
    }
    if (pool.actors() > 12) pool.resize(3);
    std::this_thread::yield();
  }
  first.resize(3);
  last.resize(1);
  for (std::thread& sender : senders) sender.join();
  first.close();
  first.join();
  last.join();
  CHECK(first.stats().totals.messages == kSenders * kMessagesEach);
  CHECK(first.stats().failures == 0);
  return seen.entries();
}

TEST_CASE(
    "a pool that grows and shrinks under load neither loses nor repeats "
    "a message",
    "[core][pool]") {
  const auto seed = GENERATE(std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3});
  const auto order = GENERATE(PoolOrder::kArrival, PoolOrder::kLowestKey);
  INFO("seed " << seed);
  std::vector<std::uint64_t> keys = run_under_resizes(seed, order);
  std::sort(keys.begin(), keys.end());
  REQUIRE(keys.size() == kSenders * kMessagesEach);
  for (std::uint64_t i = 0; i < keys.size(); ++i) REQUIRE(keys[i] == i);
}

TEST_CASE("messages of one sender keep their order in a pool of one", "[core][pool]") {
  const SystemClock clock;
  Log<std::uint64_t> seen;
  auto options = options_for([&](Token&& message, PoolContext&) -> Status {
    seen.add(message.key);
    return {};
  });
  options.mailbox_bytes = 50;
  TokenPool pool(std::move(options), clock);
  pool.grow(1);
  std::vector<std::thread> senders;
  for (std::uint64_t sender = 0; sender < kSenders; ++sender) {
    senders.emplace_back([&, sender] {
      for (std::uint64_t i = 0; i < kMessagesEach; ++i) {
        CHECK(pool.offer(token(sender * kMessagesEach + i), 7));
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  pool.close();
  pool.join();
  std::vector<std::uint64_t> next(kSenders, 0);
  for (const std::uint64_t key : seen.entries()) {
    REQUIRE(key % kMessagesEach == next[key / kMessagesEach]++);
  }
  CHECK(next == std::vector<std::uint64_t>(kSenders, kMessagesEach));
}

}  // namespace
}  // namespace forebay
