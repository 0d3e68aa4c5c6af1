#include "core/data/repeated_columns.h"

#include <algorithm>
#include <cstdint>
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
