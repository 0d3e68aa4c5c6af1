#include "actors/stage/permute.h"

#include <algorithm>

#include "actors/stage/batcher.h"
#include "tests/support/columns.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::vector<std::string> rows_of(ColumnSet columns, BufferPool& pool) {
  const std::size_t rows = columns.rows;
  Batcher batcher(rows, pool);
  batcher.add(std::move(columns), 0);
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

}  // namespace
}  // namespace forebay
