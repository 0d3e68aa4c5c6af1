#include "core/data/repeated_columns.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "tests/support/any_columns.h"
#include "tests/support/columns.h"
#include "tests/support/repeated.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

struct Memory {
  MemoryBudget budget{1 << 26};
  BufferPool pool{budget};
};

/// Five rows of a dense value and a list: 1 [7 8], 1 [7 8], 1 [], 2 [], 2 [].
ColumnSet five_rows(BufferPool& pool) {
  ColumnSet set;
  set.rows = 5;
  set.slabs.push_back(pool.take(2 * SlabCarver::aligned<float>(5) +
                                SlabCarver::aligned<std::int64_t>(4) +
                                SlabCarver::aligned<std::int32_t>(6)));
  SlabCarver carver(set.slabs.back().data());
  set.labels = carver.take<float>(5);
  set.dense.push_back(carver.take<float>(5));
  set.sparse.push_back({carver.take<std::int64_t>(4), carver.take<std::int32_t>(6)});
  std::ranges::copy(std::vector<float>{0, 1, 0, 1, 0}, set.labels);
  std::ranges::copy(std::vector<float>{1, 1, 1, 2, 2}, set.dense[0]);
  std::ranges::copy(std::vector<std::int64_t>{7, 8, 7, 8}, set.sparse[0].values);
  std::ranges::copy(std::vector<std::int32_t>{0, 2, 4, 4, 4, 4}, set.sparse[0].offsets);
  return set;
}

TEST_CASE("neighbouring rows with the same values in all columns of a group are stored once",
          "[core][repeated_columns]") {
  Memory memory;
  ColumnSet set = five_rows(memory.pool);
  const FeatureGroup group{.dense = {0}, .sparse = {0}};
  const auto differ = rows_that_differ(set, group);
  CHECK(differ == std::vector<std::uint8_t>{1, 0, 1, 1, 0});
  const RepeatCount count = store_once(set, group, differ, memory.pool);
  // 5 values of 4 bytes, 4 ids of 8 and 5 lengths of 4.
  CHECK(count == RepeatCount{.rows = 5, .unique = 3, .bytes = 20 + 32 + 20});
  CHECK(set.dense[0] == nullptr);
  CHECK(set.sparse[0].values == nullptr);
  const RepeatedColumns& stored = set.repeated.at(0);
  REQUIRE(stored.sets.size() == 1);
  CHECK(stored.sets[0]->rows == 3);
  CHECK(std::vector<float>(stored.sets[0]->dense[0], stored.sets[0]->dense[0] + 3) ==
        std::vector<float>{1, 1, 2});
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < 5; ++i) rows.push_back(stored.rows[i].row);
  CHECK(rows == std::vector<std::uint32_t>{0, 0, 1, 2, 2});
}

TEST_CASE("a row that is not stored has the values of the stored row before it, whatever it holds",
          "[core][repeated_columns]") {
  Memory memory;
  ColumnSet set = five_rows(memory.pool);
  const FeatureGroup group{.dense = {0}, .sparse = {0}};
  const std::vector<std::uint8_t> stored{1, 0, 0, 0, 1};
  const RepeatCount count = store_once(set, group, stored, memory.pool);
  CHECK(count.bytes == 20 + 4 * 16 + 20);
  test::make_plain(set, {group}, memory.pool);
  CHECK(std::vector<float>(set.dense[0], set.dense[0] + 5) == std::vector<float>{1, 1, 1, 1, 2});
  CHECK(std::vector<std::int32_t>(set.sparse[0].offsets, set.sparse[0].offsets + 6) ==
        std::vector<std::int32_t>{0, 2, 4, 6, 8, 8});
}

TEST_CASE("where few rows repeat they stay where they are, and a released group leaves its memory",
          "[core][repeated_columns]") {
  Memory memory;
  ColumnSet set = five_rows(memory.pool);
  set.slabs.front().shrink(100);  // padding of such small columns would be most of the memory
  const float* const values = set.dense[0];
  const FeatureGroup group{.dense = {0}, .sparse = {0}};
  const std::vector<std::uint8_t> stored{1, 1, 0, 1, 1};
  const RepeatCount count = store_once(set, group, stored, memory.pool);
  CHECK(count == RepeatCount{.rows = 5, .unique = 4, .bytes = 20 + 48 + 20});
  REQUIRE(set.repeated[0].sets.size() == 1);
  CHECK(set.repeated[0].sets[0]->dense[0] == values);  // not copied
  CHECK(set.repeated[0].rows[2] == UniqueRow{.set = 0, .row = 1});
  CHECK(set.repeated[0].rows[4] == UniqueRow{.set = 0, .row = 4});
  release_group(set, 0);
  CHECK(set.repeated.empty());
  CHECK(set.labels[1] == 1);  // in memory that the group had
}

TEST_CASE("a small group does not keep the memory of all columns", "[core][repeated_columns]") {
  Memory memory;
  ColumnSet set = five_rows(memory.pool);
  const float* const values = set.dense[0];
  const FeatureGroup group{.dense = {0}, .sparse = {}};
  store_once(set, group, std::vector<std::uint8_t>(5, 1), memory.pool);
  CHECK(set.repeated[0].sets[0]->dense[0] != values);
}

TEST_CASE("columns of any bits come back as they were", "[core][repeated_columns]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Memory memory;
    const test::AnyColumns shape{.rows = random.below(60), .dense = 2, .sparse = 3};
    ColumnSet set = test::any_columns(random, shape, memory.pool);
    Random again(seed);
    again.below(60);
    const ColumnSet plain = test::any_columns(again, shape, memory.pool);
    const std::vector<FeatureGroup> groups{{.dense = {1}, .sparse = {0, 2}}, {.sparse = {1}}};
    test::store_groups(set, groups, memory.pool);
    test::make_plain(set, groups, memory.pool);
    for (std::size_t i = 0; i < shape.dense && shape.rows > 0; ++i) {
      CHECK(std::memcmp(set.dense[i], plain.dense[i], shape.rows * sizeof(float)) == 0);
    }
    for (std::size_t i = 0; i < shape.sparse; ++i) {
      REQUIRE(set.sparse[i].count(shape.rows) == plain.sparse[i].count(shape.rows));
      CHECK(std::equal(plain.sparse[i].values,
                       plain.sparse[i].values + plain.sparse[i].count(shape.rows),
                       set.sparse[i].values));
    }
  }
}

/// Lists of a column in memory of their own.
SparseColumn lists_of(const std::vector<std::vector<std::int64_t>>& lists, ColumnSet& set,
                      BufferPool& pool) {
  std::size_t ids = 0;
  for (const auto& list : lists) ids += list.size();
  set.slabs.push_back(pool.take(SlabCarver::aligned<std::int64_t>(ids) +
                                SlabCarver::aligned<std::int32_t>(lists.size() + 1)));
  SlabCarver carver(set.slabs.back().data());
  SparseColumn column{.values = carver.take<std::int64_t>(ids),
                      .offsets = carver.take<std::int32_t>(lists.size() + 1)};
  column.offsets[0] = 0;
  std::int64_t* end = column.values;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    end = std::ranges::copy(lists[i], end).out;
    column.offsets[i + 1] = static_cast<std::int32_t>(end - column.values);
  }
  return column;
}

TEST_CASE("columns that store different rows are joined to the rows that any of them stores",
          "[core][repeated_columns]") {
  Memory memory;
  DistinctColumns distinct;
  ColumnSet five = five_rows(memory.pool);
  distinct.columns.rows = 5;
  distinct.columns.dense = {five.dense[0]};  // 1 1 1 2 2, an entry for each row
  distinct.columns.sparse = {lists_of({{7, 8}, {}}, distinct.columns, memory.pool),
                             lists_of({{3}, {4}}, distinct.columns, memory.pool)};
  distinct.stored = {{}, {1, 0, 1, 0, 0}, {1, 0, 0, 0, 1}};
  std::vector<UniqueRow> rows(5);
  RepeatedColumns joined{.sets = {nullptr, nullptr}, .rows = rows.data()};
  joined.sets.push_back(
      std::make_shared<ColumnSet>(join_distinct(std::move(distinct), 2, rows.data(), memory.pool)));
  const ColumnSet& set = *joined.sets[2];
  CHECK(rows == std::vector<UniqueRow>{{2, 0}, {2, 0}, {2, 1}, {2, 2}, {2, 3}});
  REQUIRE(set.rows == 4);
  CHECK(std::vector<float>(set.dense[0], set.dense[0] + 4) == std::vector<float>{1, 1, 2, 2});
  CHECK(std::vector<std::int32_t>(set.sparse[0].offsets, set.sparse[0].offsets + 5) ==
        std::vector<std::int32_t>{0, 2, 2, 2, 2});
  CHECK(std::vector<std::int64_t>(set.sparse[1].values, set.sparse[1].values + 4) ==
        std::vector<std::int64_t>{3, 3, 3, 4});
}

TEST_CASE("what repeats is counted over all sets, without rows that nobody refers to",
          "[core][repeated_columns]") {
  Memory memory;
  RepeatedColumns columns;
  for (int i = 0; i < 2; ++i) {
    auto set = std::make_shared<ColumnSet>();
    set->rows = 3;
    set->sparse = {lists_of({{1, 2}, {}, {3}}, *set, memory.pool)};
    columns.sets.push_back(std::move(set));
  }
  std::vector<UniqueRow> rows{{0, 0}, {0, 0}, {1, 0}, {1, 1}};
  columns.rows = rows.data();
  // Lists of 2, 2, 2 and 0 ids of 8 bytes, with a length of 4 each.
  CHECK(count_repeats(columns, 4) == RepeatCount{.rows = 4, .unique = 3, .bytes = 48 + 16});
}

TEST_CASE("columns that store the same rows stay where they are if few repeat",
          "[core][repeated_columns]") {
  Memory memory;
  const auto joined = [&](const std::vector<std::uint8_t>& stored, UniqueRow* rows) {
    DistinctColumns distinct;
    distinct.columns.rows = 4;
    const auto entries = std::ranges::count(stored, std::uint8_t{1});
    const std::vector<std::vector<std::int64_t>> lists(static_cast<std::size_t>(entries), {5, 6});
    distinct.columns.sparse = {lists_of(lists, distinct.columns, memory.pool)};
    const std::int64_t* const values = distinct.columns.sparse[0].values;
    distinct.stored = {stored};
    const ColumnSet set = join_distinct(std::move(distinct), 0, rows, memory.pool);
    CHECK(set.rows == lists.size());
    return set.sparse[0].values == values;
  };
  std::vector<UniqueRow> rows(4);
  CHECK(joined({1, 1, 0, 1}, rows.data()));
  CHECK(rows == std::vector<UniqueRow>{{0, 0}, {0, 1}, {0, 1}, {0, 2}});
  CHECK_FALSE(joined({1, 0, 0, 1}, rows.data()));
}

TEST_CASE("columns with an entry for each row stay where they are if all rows differ",
          "[core][repeated_columns]") {
  Memory memory;
  for (const bool repeats : {false, true}) {
    DistinctColumns distinct;
    distinct.columns.rows = 3;
    const std::int64_t last = repeats ? 2 : 3;
    distinct.columns.sparse = {lists_of({{1}, {2}, {last}}, distinct.columns, memory.pool)};
    const std::int64_t* const values = distinct.columns.sparse[0].values;
    distinct.stored = {{}};
    std::vector<UniqueRow> rows(3);
    const ColumnSet set = join_distinct(std::move(distinct), 0, rows.data(), memory.pool);
    CHECK((set.sparse[0].values == values) == !repeats);
  }
}

TEST_CASE("rows that are named are gathered once, in the order in which they are named",
          "[core][repeated_columns]") {
  Memory memory;
  ColumnSet set = five_rows(memory.pool);
  const FeatureGroup group{.dense = {0}, .sparse = {0}};
  test::store_groups(set, {group}, memory.pool);
  RepeatedColumns& stored = set.repeated[0];
  stored.sets.push_back(stored.sets[0]);  // the same rows as set 1
  std::vector<UniqueRow> rows{{0, 2}, {1, 0}, {0, 2}, {0, 0}};
  stored.rows = rows.data();
  std::vector<std::uint32_t> indices(4);
  const ColumnSet named = named_rows(stored, 4, group, indices.data(), memory.pool);
  CHECK(indices == std::vector<std::uint32_t>{0, 1, 0, 2});
  REQUIRE(named.rows == 3);
  CHECK(std::vector<float>(named.dense[0], named.dense[0] + 3) == std::vector<float>{2, 1, 1});
  CHECK(named.sparse[0].count(3) == 4);
}

TEST_CASE("the ratio of several groups is weighted by their bytes", "[core][repeated_columns]") {
  CHECK(repeat_ratio({}) == 1);
  const std::vector<RepeatCount> groups{{.rows = 100, .unique = 10, .bytes = 300},
                                        {.rows = 100, .unique = 50, .bytes = 100}};
  CHECK(repeat_ratio(groups) == (10.0 * 300 + 2.0 * 100) / 400);
}

}  // namespace
}  // namespace forebay
