#include "core/data/row_dealer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
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
    RowDealer(deal, rows).move(from.data(), to.data());
    return to;
  }

  MemoryBudget budget{1 << 26};
  BufferPool pool{budget};
};

std::span<const std::int64_t> run_of(const std::vector<std::int64_t>& order,
                                     const RowDealer& dealer, std::size_t run) {
  const std::size_t begin = dealer.begins()[run];
  return std::span(order).subspan(begin, dealer.begins()[run + 1] - begin);
}

TEST_CASE("of each round of chunks every run gets one", "[core][row_dealer]") {
  Dealt dealt;
  const std::size_t runs = GENERATE(1, 2, 7, 80);
  const auto [rounds, chunk] = GENERATE(table<std::size_t, std::size_t>(
      {{1, 64}, {1, 65}, {1, 90}, {1, 127}, {3, 64}, {3, 65}, {16, 64}, {16, 65}}));
  const RowDeal deal{.runs = runs, .key = 3};
  const std::size_t rows = runs * rounds * chunk;
  const auto order = dealt.order(deal, rows);
  CHECK(std::set<std::int64_t>(order.begin(), order.end()).size() == rows);
  const RowDealer dealer(deal, rows);
  for (std::size_t run = 0; run < runs; ++run) {
    const auto own = run_of(order, dealer, run);
    REQUIRE(own.size() == rounds * chunk);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto row = static_cast<std::size_t>(own[i]);
      REQUIRE(row / (runs * chunk) == i / chunk);
      REQUIRE(row % chunk == i % chunk);
    }
  }
}

TEST_CASE("any number of rows is dealt to nearly equal runs of whole chunks",
          "[core][row_dealer]") {
  Dealt dealt;
  const std::size_t rows = GENERATE(0, 1, 9, 10, 11, 639, 640, 641, 1279, 1280, 4001);
  const RowDeal deal{.runs = 10, .key = 9};
  const auto order = dealt.order(deal, rows);
  CHECK(std::set<std::int64_t>(order.begin(), order.end()).size() == rows);
  const RowDealer dealer(deal, rows);
  const std::size_t chunks = std::max<std::size_t>(1, rows / 640);
  for (std::size_t run = 0; run < 10; ++run) {
    const auto own = run_of(order, dealer, run);
    CHECK(own.size() + chunks >= rows / 10);
    CHECK(own.size() <= rows / 10 + chunks);
    std::size_t parted = 0;
    for (std::size_t i = 1; i < own.size(); ++i) parted += own[i] != own[i - 1] + 1 ? 1 : 0;
    CHECK(parted < chunks);
  }
}

TEST_CASE("which run gets a chunk is drawn by the key, evenly", "[core][row_dealer]") {
  Dealt dealt;
  CHECK(dealt.order({8, 1}, 1000) == dealt.order({8, 1}, 1000));
  CHECK(dealt.order({8, 1}, 1000) != dealt.order({8, 2}, 1000));
  // 1,000 rounds: a run gets the chunk of each place of a round 125 times; the standard deviation
  // is 10.
  const auto order = dealt.order({8, 5}, 512'000);
  for (std::size_t run = 0; run < 8; ++run) {
    std::vector<int> times(8);
    for (std::size_t i = 0; i < 1'000; ++i)
      ++times[static_cast<std::size_t>(order[run * 64'000 + i * 64] / 64 % 8)];
    for (const int count : times) CHECK(std::abs(count - 125) < 50);
  }
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
  deal_rows(columns, {2, 2}, dealt.pool);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto number = static_cast<std::int64_t>(columns.labels[i]);
    REQUIRE(ids.offsets[i + 1] - ids.offsets[i] == (number % 3 == 0 ? 0 : 1));
    if (number % 3 != 0) REQUIRE(ids.values[ids.offsets[i]] == number);
  }
}

}  // namespace
}  // namespace forebay
