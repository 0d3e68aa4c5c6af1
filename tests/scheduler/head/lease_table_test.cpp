#include "scheduler/head/lease_table.h"

#include <algorithm>

#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

using namespace std::chrono_literals;
using Splits = std::vector<std::uint64_t>;

LeaseTable with_issued(std::uint64_t count) {
  LeaseTable table(5s);
  for (std::uint64_t split = 0; split < count; ++split) REQUIRE(table.issue(split));
  return table;
}

TEST_CASE("splits are leased lowest first, each to one", "[scheduler]") {
  LeaseTable table = with_issued(6);
  CHECK_FALSE(table.issue(3));
  CHECK(table.lease(1, 2, 0s) == Splits{0, 1});
  CHECK(table.lease(2, 3, 0s) == Splits{2, 3, 4});
  REQUIRE(table.give_back(1, 0));
  CHECK(table.lease(2, 9, 0s) == Splits{0, 5});
  CHECK(table.num_waiting() == 0);
  CHECK(table.num_missing() == 6);
  CHECK(table.num_leases(2) == 5);
}

TEST_CASE("an arrival ends all leases of a split and lists their holders", "[scheduler]") {
  LeaseTable table = with_issued(2);
  table.lease(1, 2, 10s);
  REQUIRE(table.lease_again(2, 0, 12s));
  const auto ended = table.arrived(0, 13s);
  REQUIRE(ended);
  CHECK(ended->holders == std::vector<LeaseTable::Holder>{1, 2});
  CHECK(ended->took == LeaseTable::Time(3s));
  CHECK_FALSE(table.arrived(0, 13s));
  CHECK(table.num_leases(2) == 0);
  CHECK(table.issue(5));
  CHECK(table.arrived(5, 14s)->took == std::nullopt);
  CHECK(table.num_waiting() == 0);
}

TEST_CASE("a lease ends at its deadline unless its holder prolongs it", "[scheduler]") {
  LeaseTable table = with_issued(3);
  table.lease(1, 3, 0s);
  const Splits holds = {0, 2, 77};
  table.prolong(1, holds, 3s);
  table.prolong(9, holds, 100s);
  CHECK(table.expire(4999ms).empty());
  CHECK(table.expire(5s) == std::vector<LeaseTable::Expired>{{1, 1}});
  CHECK(table.lease(2, 9, 5s) == Splits{1});
  CHECK(table.expire(8s) == std::vector<LeaseTable::Expired>{{1, 0}, {1, 2}});
  CHECK(table.num_waiting() == 2);
}

TEST_CASE("splits of a lost holder wait again, unless a second holder has them", "[scheduler]") {
  LeaseTable table = with_issued(4);
  table.lease(1, 3, 0s);
  REQUIRE(table.lease_again(2, 1, 0s));
  CHECK(table.lose(1) == Splits{0, 1, 2});
  CHECK(table.lose(1).empty());
  CHECK(table.lease(3, 9, 0s) == Splits{0, 2, 3});
  CHECK(table.leases_of(2) == Splits{1});
}

TEST_CASE("a split may be held by another once it was given back, expired, doubled or reopened",
          "[scheduler]") {
  LeaseTable table = with_issued(5);
  table.lease(1, 4, 0s);
  for (std::uint64_t split = 0; split < 5; ++split) CHECK_FALSE(table.is_again(split));
  REQUIRE(table.give_back(1, 0));
  REQUIRE(table.lease_again(2, 1, 1s));
  CHECK(table.is_again(1));
  const Splits holds = {3};
  table.prolong(1, holds, 4s);
  REQUIRE(table.expire(5s) == std::vector<LeaseTable::Expired>{{1, 1}, {1, 2}});
  table.reopen({0, 1, 2, 3, 4, 7}, {}, 6s);  // 7 was issued by the client to an earlier head.
  const std::vector<bool> again = {true, true, true, false, false};
  for (std::uint64_t split = 0; split < 5; ++split) CHECK(table.is_again(split) == again[split]);
  CHECK(table.is_again(7));
  REQUIRE(table.arrived(0, 7s));
  REQUIRE(table.issue(0));
  CHECK_FALSE(table.is_again(0));
}

TEST_CASE("a split is leased to at most two holders", "[scheduler]") {
  LeaseTable table = with_issued(2);
  CHECK_FALSE(table.lease_again(1, 0, 0s));  // The split waits, so there is no late holder.
  table.lease(1, 1, 0s);
  CHECK_FALSE(table.lease_again(1, 0, 0s));
  CHECK(table.lease_again(2, 0, 0s));
  CHECK_FALSE(table.lease_again(3, 0, 0s));
  CHECK_FALSE(table.adopt(3, 0, 0s));
  CHECK(table.adopt(2, 0, 0s));
  CHECK(table.adopt(3, 1, 0s));
  CHECK_FALSE(table.adopt(3, 99, 0s));
  CHECK(table.num_waiting() == 0);
  REQUIRE(table.lowest());
  CHECK(table.lowest()->holders == std::vector<LeaseTable::Holder>{1, 2});
}

TEST_CASE("an opening replaces the splits to be made and keeps their leases", "[scheduler]") {
  LeaseTable table = with_issued(3);
  table.lease(1, 2, 0s);
  RangeSet finished;
  finished.add(5, 5);
  table.reopen({1, 4, 5}, finished, 1s);
  CHECK(table.missing() == Splits{1, 4});
  CHECK(table.leases_of(1) == Splits{1});
  CHECK(table.num_waiting() == 1);
}

TEST_CASE("a split client wants the splits that it issued and that have not arrived",
          "[scheduler]") {
  constexpr std::uint64_t kLast = ~std::uint64_t{0};
  OpenJob open;
  open.job.splits_per_epoch = 3 << 20;
  open.job.epochs = 2;
  open.issued = {{3, 5}, {8, 8}};
  open.arrived = {4};
  CHECK(wanted_of(open).value() == std::set<std::uint64_t>{3, 5, 8});
  for (const SplitRange wrong : {SplitRange{5, 3}, SplitRange{0, 1 << 20},
                                 SplitRange{(6 << 20) - 1, 6 << 20}, SplitRange{kLast, kLast}}) {
    open.issued = {wrong};
    CHECK(wanted_of(open).error().code == Code::kInvalid);
  }
  open.issued = {{0, (1 << 20) - 1}, {1 << 21, 1 << 21}};
  CHECK_FALSE(wanted_of(open));
}

/// Every split is in one state, and all counts agree.
void check_accounting(const LeaseTable& table, std::uint64_t holders) {
  std::size_t leases = 0;
  std::set<std::uint64_t> leased;
  for (std::uint64_t holder = 1; holder <= holders; ++holder) {
    const auto splits = table.leases_of(holder);
    leases += splits.size();
    leased.insert(splits.begin(), splits.end());
    REQUIRE(splits.size() == table.num_leases(holder));
  }
  REQUIRE(leases == table.num_leases());
  REQUIRE(leased.size() + table.num_waiting() == table.num_missing());
}

TEST_CASE("each split is leased or waits after any calls, and all arrive", "[scheduler]") {
  constexpr std::uint64_t kSplits = 60;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    LeaseTable table = with_issued(kSplits);
    std::set<std::uint64_t> arrived;
    LeaseTable::Time now = 0s;
    for (int step = 0; step < 2000 && arrived.size() < kSplits; ++step) {
      now += std::chrono::milliseconds(random.below(800));
      const std::uint64_t holder = 1 + random.below(4);
      const auto held = table.leases_of(holder);
      switch (random.below(7)) {
        case 0:
        case 1:
          table.lease(holder, random.below(5), now);
          break;
        case 2:
          table.prolong(holder, held, now);
          break;
        case 3:
          if (!held.empty()) {
            REQUIRE(table.arrived(held.front(), now));
            REQUIRE(arrived.insert(held.front()).second);
          }
          break;
        case 4:
          if (!held.empty()) REQUIRE(table.give_back(holder, held.back()));
          break;
        case 5:
          random.below(5) == 0 ? static_cast<void>(table.lose(holder))
                               : static_cast<void>(table.expire(now));
          break;
        default:
          if (auto lowest = table.lowest()) table.lease_again(holder, lowest->split, now);
      }
      check_accounting(table, 4);
    }
    for (const std::uint64_t split : table.missing()) {
      REQUIRE_FALSE(arrived.contains(split));
      arrived.insert(split);
    }
    REQUIRE(arrived.size() == kSplits);
  }
}

}  // namespace
}  // namespace forebay::scheduler
