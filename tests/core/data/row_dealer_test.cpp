#include "core/data/row_dealer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "tests/support/columns.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

class Dealt {
 public:
  /// The rows of a set of `rows` rows in their new order, each as its number.
  std::vector<std::int64_t> order(const RowDeal& deal, std::size_t rows) {
    std::vector<std::int64_t> from(rows);
    std::iota(from.begin(), from.end(), 0);
    std::vector<std::int64_t> to(rows, -1);
    RowDealer(deal, rows, pool).move(from.data(), to.data());
    return to;
  }

  MemoryBudget budget{1 << 26};
  BufferPool pool{budget};
};

TEST_CASE("of each round of rows every run gets one", "[core][row_dealer]") {
  Dealt dealt;
  const std::size_t runs = GENERATE(1, 2, 7, 80);
  const std::size_t rows = GENERATE(0, 1, 15, 80, 1279, 1280, 1281, 4001);
  const auto order = dealt.order({.runs = runs, .key = 3}, rows);
  CHECK(std::set<std::int64_t>(order.begin(), order.end()).size() == rows);
  for (std::size_t run = 0; run < runs; ++run) {
    const std::size_t begin = RowDeal::begin_of(run, runs, rows);
    const std::size_t end = RowDeal::begin_of(run + 1, runs, rows);
    CHECK((end - begin == rows / runs || end - begin == rows / runs + 1));
    for (std::size_t i = begin; i < end; ++i) {
      REQUIRE(static_cast<std::size_t>(order[i]) / runs == i - begin);
    }
  }
}

TEST_CASE("which run gets a row is drawn by the key, evenly", "[core][row_dealer]") {
  Dealt dealt;
  CHECK(dealt.order({8, 1}, 1000) == dealt.order({8, 1}, 1000));
  CHECK(dealt.order({8, 1}, 1000) != dealt.order({8, 2}, 1000));
  // 8,000 rounds: a run gets the row of each place of a round 1,000 times; the standard deviation
  // is 30.
  const auto order = dealt.order({8, 5}, 64'000);
  for (std::size_t run = 0; run < 8; ++run) {
    std::vector<int> times(8);
    for (std::size_t i = 0; i < 8'000; ++i)
      ++times[static_cast<std::size_t>(order[run * 8'000 + i] % 8)];
    for (const int count : times) CHECK(std::abs(count - 1000) < 150);
  }
}

TEST_CASE("the rows of the last round go to the runs that are longer, any to any",
          "[core][row_dealer]") {
  Dealt dealt;
  std::set<std::vector<std::int64_t>> seen;
  for (std::uint64_t key = 0; key < 200; ++key) seen.insert(dealt.order({5, key}, 3));
  CHECK(seen.size() == 6);
}

TEST_CASE("all columns of a set are dealt alike", "[core][row_dealer]") {
  Dealt dealt;
  for (const std::size_t rows : {0, 1, 2, 1000}) {
    ColumnSet columns = test::with_rest(test::numbered_rows(7, rows, dealt.pool), 7, dealt.pool);
    const auto order = dealt.order({6, 9}, rows);
    deal_rows(columns, {6, 9}, dealt.pool);
    for (std::size_t i = 0; i < rows; ++i) {
      const std::int64_t number = 7 + order[i];
      REQUIRE(columns.labels[i] == static_cast<float>(number % 2));
      REQUIRE(columns.dense[0][i] == static_cast<float>(number));
      REQUIRE(columns.weights[i] == static_cast<float>(number) / 4);
      REQUIRE(columns.extras[0][i] == number);
      REQUIRE(columns.sparse[0].values[i] == number);
      const SparseColumn& lists = columns.sparse[1];
      REQUIRE(lists.offsets[i + 1] - lists.offsets[i] == number % 3);
      for (std::int32_t k = lists.offsets[i]; k < lists.offsets[i + 1]; ++k) {
        REQUIRE(lists.values[k] == number);
      }
    }
  }
}

TEST_CASE("lists of at most one id are dealt like longer ones", "[core][row_dealer]") {
  Dealt dealt;
  const std::size_t rows = 333;
  ColumnSet columns;
  columns.rows = rows;
  columns.slabs.push_back(dealt.pool.take(SlabCarver::aligned<float>(rows) +
                                          SlabCarver::aligned<std::int64_t>(rows) +
                                          SlabCarver::aligned<std::int32_t>(rows + 1)));
  SlabCarver carver(columns.slabs.back().data());
  columns.labels = carver.take<float>(rows);
  SparseColumn& ids = columns.sparse.emplace_back();
  ids.values = carver.take<std::int64_t>(rows);
  ids.offsets = carver.take<std::int32_t>(rows + 1);
  ids.offsets[0] = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    columns.labels[i] = static_cast<float>(i);
    ids.offsets[i + 1] = ids.offsets[i] + (i % 3 == 0 ? 0 : 1);
    if (i % 3 != 0) ids.values[ids.offsets[i]] = static_cast<std::int64_t>(i);
  }
  deal_rows(columns, {4, 2}, dealt.pool);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto number = static_cast<std::int64_t>(columns.labels[i]);
    REQUIRE(ids.offsets[i + 1] - ids.offsets[i] == (number % 3 == 0 ? 0 : 1));
    if (number % 3 != 0) REQUIRE(ids.values[ids.offsets[i]] == number);
  }
}

}  // namespace
}  // namespace forebay
