#include <algorithm>
#include <map>
#include <set>

#include "core/base/random.h"
#include "trainer/embedding/slot_metadata.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

using Missing = std::vector<std::uint32_t>;

/// A cache and the contents of its slots.
struct Cached {
  explicit Cached(std::size_t rows, std::size_t slots) : cache(rows, slots, team), held(slots) {}

  bool take(const std::vector<SlotCache::Row>& rows, std::uint64_t turn) {
    at.resize(rows.size());
    return keep(rows, cache.take(rows, turn, at, missing));
  }
  bool lend(const std::vector<SlotCache::Row>& rows) {
    at.resize(rows.size());
    return keep(rows, cache.lend(rows, at, missing));
  }
  bool keep(const std::vector<SlotCache::Row>& rows, bool given) {
    if (!given) return false;
    for (const std::uint32_t row : missing) held[static_cast<std::size_t>(at[row])] = rows[row];
    return given;
  }
  /// Whether each row is in the slot that `slots` gives.
  bool holds(const std::vector<SlotCache::Row>& rows,
             const std::vector<std::int32_t>& slots) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const SlotCache::Row& there = held[static_cast<std::size_t>(slots[i])];
      if (there.number != rows[i].number || there.refills != rows[i].refills) return false;
    }
    return true;
  }

  ThreadTeam team{3};
  SlotCache cache;
  std::vector<SlotCache::Row> held;
  std::vector<std::int32_t> at;
  Missing missing;
};

}  // namespace

TEST_CASE("rows keep their slots until their turn is finished", "[trainer][embedding]") {
  Cached given(10, 4);
  REQUIRE(given.take({{7}, {8}}, 1));
  CHECK(given.missing == Missing{0, 1});
  const auto first = given.at;
  // Two slots are left for a batch out of turn, which may be as large as the largest so far.
  CHECK_FALSE(given.take({{8}, {9}}, 2));
  CHECK(given.lend({{8}, {9}}));
  CHECK(given.missing == Missing{1});
  CHECK(given.at[0] == first[1]);
  given.cache.give_back();
  given.cache.finish(1);
  REQUIRE(given.take({{8}, {9}}, 2));
  CHECK(given.missing.empty());
  given.cache.finish(2);
  REQUIRE(given.take({{1}, {2}, {3}}, 3));
  CHECK_FALSE(given.lend({{4}, {5}}));
  CHECK(given.lend({{4}}));
}

TEST_CASE("a row whose location was given to another is fetched into the same slot",
          "[trainer][embedding]") {
  Cached given(10, 4);
  REQUIRE(given.take({{7}}, 1));
  given.cache.finish(1);
  const std::int32_t slot = given.at[0];
  REQUIRE(given.take({{7, 1}}, 2));
  CHECK(given.missing == Missing{0});
  CHECK(given.at[0] == slot);
  given.cache.finish(2);
  REQUIRE(given.take({{7, 1}}, 3));
  CHECK(given.missing.empty());
}

TEST_CASE("rows that are used again stay, rows used once are evicted", "[trainer][embedding]") {
  Cached given(1000, 4);
  std::size_t fetched = 0;
  for (std::uint64_t turn = 1; turn < 100; ++turn) {
    REQUIRE(given.take({{0}, {turn}}, turn));
    fetched += given.missing.size();
    given.cache.finish(turn);
  }
  CHECK(fetched == 100);
}

TEST_CASE("a call that is refused, and repeated, counts as one use", "[trainer][embedding]") {
  Cached given(1000, 8);
  REQUIRE(given.take({{6}}, 1));
  REQUIRE(given.take({{6}, {7}}, 2));
  const std::vector<std::int32_t> slots = given.at;
  for (int i = 0; i < 5; ++i) CHECK_FALSE(given.take({{6}, {7}, {1}, {2}, {3}, {4}}, 3));
  given.cache.finish(2);
  REQUIRE(given.take({{6}, {7}, {1}, {2}, {3}, {4}}, 3));
  given.cache.finish(3);
  // Row 7 was used twice and row 6 three times, so row 7 leaves first, though behind it in order.
  given.at = {-1};
  for (std::uint64_t turn = 4; std::ranges::find(slots, given.at[0]) == slots.end(); ++turn) {
    REQUIRE(given.take({{100 + turn}}, turn));
    given.cache.finish(turn);
  }
  CHECK(given.at[0] == slots[1]);
}

TEST_CASE("lent rows stay when a turn that held them, too, is finished", "[trainer][embedding]") {
  Cached given(10, 3);
  REQUIRE(given.take({{1}, {2}}, 1));
  const auto slots = given.at;
  REQUIRE(given.lend({{1}, {2}}));
  given.cache.finish(1);
  CHECK_FALSE(given.take({{3}, {4}}, 2));
  REQUIRE(given.take({{3}}, 2));
  CHECK(given.holds({{1}, {2}}, slots));
  given.cache.give_back();
  CHECK_FALSE(given.take({{4}, {5}, {6}}, 3));
  REQUIRE(given.take({{4}, {5}}, 2));
}

TEST_CASE("every row is in the slot that the cache returned for it", "[trainer][embedding]") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 9)));
  INFO("seed " << seed);
  Random random(seed);
  constexpr std::size_t kRows = 60;
  Cached given(kRows, 24);
  std::vector<std::uint32_t> refills(kRows);
  std::map<std::uint64_t, std::pair<std::vector<SlotCache::Row>, std::vector<std::int32_t>>> turns;
  std::uint64_t turn = 1;
  std::uint64_t finished = 0;
  std::size_t refused = 0;
  std::set<std::uint64_t> refused_rows;  // A call that was refused is repeated with the same rows.
  for (int call = 0; call < 4000; ++call) {
    const bool lends = random.below(4) == 0;
    std::set<std::uint64_t> numbers = lends ? std::set<std::uint64_t>() : refused_rows;
    while (numbers.size() < 8) numbers.insert(random.below(random.below(2) == 0 ? kRows : 10));
    std::vector<SlotCache::Row> rows;
    rows.reserve(numbers.size());
    for (const std::uint64_t number : numbers) rows.push_back({number, refills[number]});
    if (lends) {
      if (given.lend(rows)) CHECK(given.holds(rows, given.at));
      given.cache.give_back();
    } else if (given.take(rows, turn)) {
      CHECK(std::set(given.at.begin(), given.at.end()).size() == rows.size());
      turns[turn++] = {rows, given.at};
      refused_rows.clear();
    } else {
      ++refused;
      refused_rows = numbers;
      REQUIRE(finished + 1 < turn);
    }
    for (const auto& [number, batch] : turns) CHECK(given.holds(batch.first, batch.second));
    if (random.below(3) != 0 && finished + 1 < turn) {
      given.cache.finish(++finished);
      turns.erase(finished);
    }
    // The host gives a slot to another row only if no batch needs it.
    const std::uint64_t refilled = random.below(kRows);
    const bool needed = std::ranges::any_of(turns, [&](const auto& held) {
      return std::ranges::any_of(held.second.first,
                                 [&](const auto& row) { return row.number == refilled; });
    });
    if (!needed) ++refills[refilled];
    if (call == 2000) {
      given.cache.finish(finished = turn - 1);
      turns.clear();
      given.cache.clear();
    }
  }
  CHECK(refused > 0);
}
