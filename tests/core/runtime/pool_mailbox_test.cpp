#include "core/runtime/pool/pool_mailbox.h"

#include <vector>

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Keys = std::vector<std::uint64_t>;

bool push(PoolMailbox& mailbox, std::uint64_t key, std::size_t bytes) {
  PoolMail mail{.parcel = nullptr, .bytes = bytes, .key = key};
  return mailbox.push(mail);
}

Keys drain(PoolMailbox& mailbox) {
  Keys keys;
  while (auto mail = mailbox.pop()) keys.push_back(mail->key);
  return keys;
}

TEST_CASE("a pool's mailbox serves in the order of arrival", "[core][pool]") {
  PoolMailbox mailbox(100, PoolOrder::kArrival);
  for (const std::uint64_t key : {5U, 1U, 3U, 2U}) REQUIRE(push(mailbox, key, 10));
  CHECK(mailbox.bytes() == 40);
  CHECK(drain(mailbox) == Keys{5, 1, 3, 2});
  CHECK(mailbox.bytes() == 0);
}

TEST_CASE("a pool's mailbox with lowest-key order serves the lowest key first", "[core][pool]") {
  PoolMailbox mailbox(100, PoolOrder::kLowestKey);
  for (const std::uint64_t key : {5U, 1U, 3U, 2U}) REQUIRE(push(mailbox, key, 10));
  CHECK(drain(mailbox) == Keys{1, 2, 3, 5});
}

TEST_CASE("a pool's mailbox takes mail up to its bound", "[core][pool]") {
  PoolMailbox mailbox(100, PoolOrder::kArrival);
  REQUIRE(push(mailbox, 1, 60));
  CHECK_FALSE(push(mailbox, 2, 41));
  CHECK(push(mailbox, 3, 40));
  CHECK_FALSE(push(mailbox, 4, 1));
}

TEST_CASE("an empty mailbox takes one mail of any size", "[core][pool]") {
  PoolMailbox mailbox(100, PoolOrder::kArrival);
  REQUIRE(push(mailbox, 1, 5000));
  CHECK_FALSE(push(mailbox, 2, 1));
  REQUIRE(mailbox.pop());
  CHECK(push(mailbox, 2, 5000));
}

TEST_CASE("waiting offers enter in order, and no later offer passes them", "[core][pool]") {
  PoolMailbox mailbox(100, PoolOrder::kArrival);
  REQUIRE(push(mailbox, 1, 50));
  REQUIRE(push(mailbox, 2, 50));
  PoolMailbox::Waiter large{.mail = {.parcel = nullptr, .bytes = 80, .key = 3}, .parker = {}};
  PoolMailbox::Waiter small{.mail = {.parcel = nullptr, .bytes = 10, .key = 4}, .parker = {}};
  mailbox.wait(large);
  mailbox.wait(small);

  REQUIRE(mailbox.pop());  // 50 queued: 80 more do not fit, and 10 more are not next.
  CHECK(mailbox.admit_all() == nullptr);
  CHECK_FALSE(push(mailbox, 5, 10));

  REQUIRE(mailbox.pop());  // Empty: 80 + 10 fit.
  PoolMailbox::unpark_all(mailbox.admit_all());
  CHECK(large.admitted);
  CHECK(small.admitted);
  CHECK(drain(mailbox) == Keys{3, 4});
}

TEST_CASE("the lowest key that waits is admitted first", "[core][pool]") {
  PoolMailbox mailbox(100, PoolOrder::kLowestKey);
  REQUIRE(push(mailbox, 9, 100));
  PoolMailbox::Waiter late{.mail = {.parcel = nullptr, .bytes = 60, .key = 8}, .parker = {}};
  PoolMailbox::Waiter early{.mail = {.parcel = nullptr, .bytes = 60, .key = 7}, .parker = {}};
  mailbox.wait(late);
  mailbox.wait(early);
  REQUIRE(mailbox.pop());
  PoolMailbox::unpark_all(mailbox.admit_all());
  CHECK(early.admitted);
  CHECK_FALSE(late.admitted);
  CHECK(push(mailbox, 6, 40));  // It is lower than all that wait, and it fits.
  CHECK(mailbox.refuse_all() == &late);
  CHECK_FALSE(late.admitted);
}

}  // namespace
}  // namespace forebay
