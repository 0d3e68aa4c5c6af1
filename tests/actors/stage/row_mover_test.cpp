// Rows of every kind keep their values and lists, of one slice and of several.

#include "actors/stage/rows/row_mover.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "core/base/shuffle.h"
#include "core/data/repeated_columns.h"
#include "tests/support/any_columns.h"
#include "tests/support/repeated.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// All that a row holds: bits of its values, its lists, each behind its length, and the values of a
/// group of repeated columns.
std::vector<std::uint64_t> row_of(const ColumnSet& set, std::size_t row) {
  std::vector<std::uint64_t> all;
  const auto add_float = [&](const float* column) {
    if (column != nullptr) all.push_back(std::bit_cast<std::uint32_t>(column[row]));
  };
  add_float(set.labels);
  add_float(set.weights);
  for (const float* column : set.dense) add_float(column);
  if (set.origins != nullptr) all.push_back(set.origins[row].packed);
  for (const std::int64_t* column : set.extras) {
    all.push_back(static_cast<std::uint64_t>(column[row]));
  }
  for (const SparseColumn& column : set.sparse) {
    if (column.values == nullptr) continue;
    all.push_back(column.first_id(row + 1) - column.first_id(row));
    for (std::size_t i = column.first_id(row); i < column.first_id(row + 1); ++i) {
      all.push_back(static_cast<std::uint64_t>(column.values[i]));
    }
  }
  for (const RepeatedColumns& group : set.repeated) {
    const UniqueRow at = group.rows[row];
    const auto values = row_of(*group.sets[at.set], at.row);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

/// Random rows of one shape; some have groups of repeated columns.
struct Drawn {
  Random random;
  BufferPool& pool;
  test::AnyColumns shape = test::any_shape(random);
  bool origins = random.below(2) == 0;
  bool groups = shape.dense > 1 && shape.sparse > 1 && random.below(2) == 0;

  ColumnSet set() {
    shape.rows = 2 + random.below(200);
    ColumnSet set = test::any_columns(random, shape, pool);
    if (origins) {
      set.slabs.push_back(pool.take(SlabCarver::aligned<RowOrigin>(set.rows)));
      set.origins = SlabCarver(set.slabs.back().data()).take<RowOrigin>(set.rows);
      for (std::size_t row = 0; row < set.rows; ++row) set.origins[row] = RowOrigin::of(3, row);
    }
    if (groups) {
      test::store_groups(set, {{.dense = {1}, .sparse = {0}}, {.dense = {}, .sparse = {1}}}, pool);
    }
    return set;
  }
};

/// A random order of so many rows.
std::vector<std::uint32_t> drawn_order(std::size_t rows, Random& random) {
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0U);
  shuffle(std::span(order), random);
  return order;
}

/// Moves the rows of slices to a random order, and compares each with what it was.
ColumnSet moved(std::span<const RowSlice> slices, Random& random, BufferPool& pool) {
  std::vector<std::vector<std::uint64_t>> rows;
  for (const RowSlice& slice : slices) {
    for (std::size_t row = slice.begin; row < slice.end; ++row) {
      rows.push_back(row_of(*slice.columns, row));
    }
  }
  const auto sources = drawn_order(rows.size(), random);
  ColumnSet moved = move_rows(slices, sources, pool);
  REQUIRE(moved.rows == rows.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    REQUIRE(row_of(moved, i) == rows[sources[i]]);
  }
  return moved;
}

TEST_CASE("moved rows hold what they held before", "[actors][stage]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    MemoryBudget budget(1 << 28);
    BufferPool pool(budget);
    Drawn drawn{.random = Random(seed), .pool = pool};
    const ColumnSet one = drawn.set();
    const ColumnSet other = drawn.set();
    const RowSlice slices[] = {{&one, drawn.random.below(2), one.rows},
                               {&other, 0, other.rows - drawn.random.below(2)},
                               {&one, 0, drawn.random.below(2)}};
    const ColumnSet joined = moved(slices, drawn.random, pool);
    const RowSlice part{&joined, 1, joined.rows - drawn.random.below(2)};
    moved({&part, 1}, drawn.random, pool);
  }
}

}  // namespace
}  // namespace forebay
