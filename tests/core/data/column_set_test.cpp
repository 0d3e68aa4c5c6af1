#include "core/data/column_set.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("the missing value is a NaN that differs from the ordinary one", "[core][column_set]") {
  CHECK(std::isnan(missing_value()));
  CHECK(is_missing(missing_value()));
  CHECK_FALSE(is_missing(std::numeric_limits<float>::quiet_NaN()));
  CHECK_FALSE(is_missing(0));
}

TEST_CASE("a sparse column counts its ids with and without offsets", "[core][column_set]") {
  std::vector<std::int32_t> offsets{0, 2, 2, 7};
  SparseColumn column;
  CHECK(column.count(3) == 3);
  column.offsets = offsets.data();
  CHECK(column.count(3) == 7);
  CHECK(column.count(1) == 2);
}

TEST_CASE("a row's origin keeps its file and offset", "[core][column_set]") {
  const auto far = RowOrigin::of(0xffffff, (std::uint64_t{1} << 40) - 1);
  CHECK(far.file() == 0xffffff);
  CHECK(far.offset() == (std::uint64_t{1} << 40) - 1);
  CHECK(RowOrigin::of(3, 5).file() == 3);
  CHECK(RowOrigin::of(3, 5).offset() == 5);
}

TEST_CASE("a column set's bytes are those of its slabs", "[core][column_set]") {
  MemoryBudget budget(1 << 20);
  BufferPool pool(budget);
  ColumnSet columns;
  CHECK(columns.bytes() == 0);
  columns.slabs.push_back(pool.take(100));
  columns.slabs.push_back(pool.take(23));
  CHECK(columns.bytes() == 123);
}

}  // namespace
}  // namespace forebay
