#include "core/runtime/mailbox.h"

#include <thread>
#include <vector>

#include "core/runtime/executor/parker.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

struct Item {
  static constexpr std::string_view kTag = "test.item/1";
  std::uint64_t sender = 0;
  std::uint64_t number = 0;
  std::size_t weight = 0;
};
std::size_t bytes_of(const Item& item) { return item.weight; }

constexpr std::size_t kEnvelope = sizeof(EnvelopeOf<Item>) - sizeof(Item);

/// An item that counts for exactly `bytes`.
EnvelopePtr item(std::size_t bytes, std::uint64_t number = 0) {
  return seal(Item{0, number, bytes - kEnvelope});
}

Mailbox::Push push(Mailbox& mailbox, EnvelopePtr envelope) {
  return mailbox.push(envelope, MailboxCredit::kRequired);
}

std::uint64_t number_of(const EnvelopePtr& envelope) {
  return static_cast<EnvelopeOf<Item>&>(*envelope).message.number;
}

TEST_CASE("a mailbox wakes its reader once and serves first in, first out", "[core][mailbox]") {
  Mailbox mailbox(1000);
  CHECK(push(mailbox, item(100, 1)) == Mailbox::Push::kWake);
  CHECK(push(mailbox, item(100, 2)) == Mailbox::Push::kQueued);
  CHECK(push(mailbox, item(100, 3)) == Mailbox::Push::kQueued);
  CHECK_FALSE(mailbox.sleep());
  mailbox.fetch();
  CHECK(number_of(mailbox.pop()) == 1);
  CHECK(push(mailbox, item(100, 4)) == Mailbox::Push::kQueued);
  CHECK(number_of(mailbox.pop()) == 2);
  CHECK(number_of(mailbox.pop()) == 3);
  CHECK(mailbox.pop() == nullptr);
  CHECK_FALSE(mailbox.sleep());
  mailbox.fetch();
  CHECK(number_of(mailbox.pop()) == 4);
  CHECK(mailbox.sleep());
  CHECK(push(mailbox, item(100, 5)) == Mailbox::Push::kWake);
}

TEST_CASE("a mailbox refuses a message that does not fit and counts every byte",
          "[core][mailbox]") {
  Mailbox mailbox(300);
  REQUIRE(push(mailbox, item(200)) == Mailbox::Push::kWake);
  CHECK(push(mailbox, item(101)) == Mailbox::Push::kFull);
  CHECK(mailbox.bytes() == 200);
  CHECK(push(mailbox, item(100)) == Mailbox::Push::kQueued);
  CHECK(mailbox.bytes() == 300);
  EnvelopePtr answer = item(500);
  CHECK(mailbox.push(answer, MailboxCredit::kExempt) == Mailbox::Push::kQueued);
  CHECK(mailbox.bytes() == 800);
  mailbox.fetch();
  while (mailbox.pop()) {
  }
  CHECK(mailbox.bytes() == 800);
  mailbox.give_credit();
  CHECK(mailbox.bytes() == 0);
  CHECK(push(mailbox, item(5000)) == Mailbox::Push::kBacklog);  // Empty: any size fits.
}

TEST_CASE("a closed mailbox refuses every message and leaves it with the sender",
          "[core][mailbox]") {
  Mailbox mailbox(300);
  REQUIRE(push(mailbox, item(200)) == Mailbox::Push::kWake);
  mailbox.close();
  EnvelopePtr late = item(100, 8);
  CHECK(mailbox.push(late, MailboxCredit::kExempt) == Mailbox::Push::kClosed);
  REQUIRE(late != nullptr);
  CHECK(number_of(late) == 8);
}

TEST_CASE("four senders lose, repeat and reorder nothing", "[core][mailbox]") {
  constexpr std::uint64_t kSenders = 4;
  constexpr std::uint64_t kEach = 20000;
  Mailbox mailbox(100 * kEnvelope);
  Parker reader;
  std::vector<std::thread> senders;
  for (std::uint64_t sender = 0; sender < kSenders; ++sender) {
    senders.emplace_back([&, sender] {
      for (std::uint64_t number = 0; number < kEach; ++number) {
        EnvelopePtr envelope = seal(Item{sender, number, sizeof(Item)});
        Mailbox::Push pushed = mailbox.push(envelope, MailboxCredit::kRequired);
        while (pushed == Mailbox::Push::kFull) {
          std::this_thread::yield();
          pushed = mailbox.push(envelope, MailboxCredit::kRequired);
        }
        if (pushed == Mailbox::Push::kWake) reader.unpark();
      }
    });
  }
  std::vector<std::uint64_t> next(kSenders, 0);
  bool asleep = true;
  for (std::uint64_t seen = 0; seen < kSenders * kEach;) {
    if (asleep) reader.park();
    mailbox.fetch();
    while (const EnvelopePtr envelope = mailbox.pop()) {
      const Item& got = static_cast<EnvelopeOf<Item>&>(*envelope).message;
      REQUIRE(got.number == next[got.sender]++);
      ++seen;
    }
    mailbox.give_credit();
    asleep = mailbox.sleep();
  }
  for (std::thread& sender : senders) sender.join();
  CHECK(next == std::vector<std::uint64_t>(kSenders, kEach));
  CHECK(mailbox.bytes() == 0);
}

}  // namespace
}  // namespace forebay
