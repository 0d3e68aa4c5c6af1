#include "actors/stage/rows/permute.h"

#include <algorithm>

#include "actors/stage/batcher.h"
#include "tests/support/columns.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::vector<std::string> rows_of(ColumnSet columns, BufferPool& pool) {
  const std::size_t rows = columns.rows;
  Batcher batcher(rows, pool);
  batcher.add(std::move(columns));
  return test::rows_of(batcher.cut());
}

TEST_CASE("permuting moves whole rows and changes none", "[actors][stage]") {
  MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  for (const std::size_t rows : {1, 2, 3, 500}) {
    const ColumnSet columns = test::numbered_rows(7, rows, pool);
    auto mixed = rows_of(permute_rows(columns, 99, pool), pool);
    auto plain = rows_of(test::numbered_rows(7, rows, pool), pool);
    if (rows == 500) CHECK(mixed != plain);
    std::sort(mixed.begin(), mixed.end());
    std::sort(plain.begin(), plain.end());
    CHECK(mixed == plain);
  }
}

TEST_CASE("weights and extra columns move with their rows", "[actors][stage]") {
  MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  for (const std::size_t rows : {1, 2, 500}) {
    const auto columns = [&] {
      return test::with_rest(test::numbered_rows(7, rows, pool), 7, pool);
    };
    auto mixed = rows_of(permute_rows(columns(), 99, pool), pool);
    auto plain = rows_of(columns(), pool);
    CHECK(plain[0].find(" 1.750000 | 7 | ") != std::string::npos);  // Row 7: 7 / 4.
    std::sort(mixed.begin(), mixed.end());
    std::sort(plain.begin(), plain.end());
    CHECK(mixed == plain);
  }
}

TEST_CASE("the same key gives the same order, another key another", "[actors][stage]") {
  MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  const ColumnSet columns = test::numbered_rows(0, 300, pool);
  CHECK(rows_of(permute_rows(columns, 5, pool), pool) ==
        rows_of(permute_rows(columns, 5, pool), pool));
  CHECK(rows_of(permute_rows(columns, 5, pool), pool) !=
        rows_of(permute_rows(columns, 6, pool), pool));
}

TEST_CASE("lists of nought or one id keep their row", "[actors][stage]") {
  MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  ColumnSet columns = test::numbered_rows(0, 4, pool);
  SparseColumn& column = columns.sparse[1];  // Rows 0 … 3 become {}, {11}, {12}, {}.
  column.values[0] = 11;
  column.values[1] = 12;
  const std::int32_t offsets[] = {0, 0, 1, 2, 2};
  std::copy(std::begin(offsets), std::end(offsets), column.offsets);
  const ColumnSet mixed = permute_rows(columns, 1, pool);
  for (std::size_t row = 0; row < 4; ++row) {
    const auto old_row = static_cast<std::size_t>(mixed.sparse[0].values[row]);
    const std::int32_t begin = mixed.sparse[1].offsets[row];
    const std::int32_t length = mixed.sparse[1].offsets[row + 1] - begin;
    REQUIRE(length == (old_row == 1 || old_row == 2 ? 1 : 0));
    if (length == 1)
      CHECK(mixed.sparse[1].values[begin] == 10 + static_cast<std::int64_t>(old_row));
  }
}

TEST_CASE("no rows permute to no rows", "[actors][stage]") {
  MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  CHECK(permute_rows(test::numbered_rows(0, 0, pool), 1, pool).rows == 0);
}

TEST_CASE("the rows of each section are permuted in themselves, those left over are not",
          "[actors][stage]") {
  MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  const ColumnSet one = test::numbered_rows(0, 130, pool);
  const ColumnSet other = test::numbered_rows(130, 73, pool);
  const RowSlice slices[] = {{&one, 0, 130}, {&other, 0, 73}};
  const ColumnSet made = permute_sections(slices, {0, 4, 50}, 9, pool);
  REQUIRE(made.rows == 203);
  const std::vector<float> rows(made.dense[0], made.dense[0] + made.rows);
  std::vector<std::vector<float>> orders;
  for (std::size_t section = 0; section < 4; ++section) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(50 * section);
    std::vector<float> found(begin, begin + 50);
    CHECK_FALSE(std::ranges::is_sorted(found));
    for (float& row : found) row -= static_cast<float>(50 * section);
    orders.push_back(found);
    std::ranges::sort(found);
    for (std::size_t i = 0; i < 50; ++i) CHECK(found[i] == static_cast<float>(i));
  }
  CHECK(orders[0] != orders[1]);
  CHECK(std::vector<float>(rows.end() - 3, rows.end()) == std::vector<float>{200, 201, 202});
  CHECK(rows_of(permute_sections(slices, {0, 4, 50}, 9, pool), pool) !=
        rows_of(permute_sections(slices, {0, 4, 50}, 8, pool), pool));
}

TEST_CASE("joined slices keep their rows' order", "[actors][stage]") {
  MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  const ColumnSet one = test::numbered_rows(10, 30, pool);
  const ColumnSet other = test::numbered_rows(33, 40, pool);
  const RowSlice slices[] = {{&one, 3, 23}, {&other, 0, 40}};
  CHECK(rows_of(join_rows(slices, pool), pool) == rows_of(test::numbered_rows(13, 60, pool), pool));
}

}  // namespace
}  // namespace forebay
