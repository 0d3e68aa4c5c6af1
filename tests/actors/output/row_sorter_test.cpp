#include "actors/output/row_sorter.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/data/column_set.h"
#include "tests/actors/output/made_batch.h"

#include "tests/support/catch.h"

namespace forebay::test {
namespace {

struct Sorted {
  MemoryBudget budget{1 << 30};
  BufferPool pool{budget};
  std::vector<std::unique_ptr<MadeBatch>> made;

  const Batch& batch(std::vector<float> labels, const std::vector<std::vector<float>>& dense,
                     const std::vector<MadeBatch::Lists>& sparse) {
    made.push_back(std::make_unique<MadeBatch>(std::move(labels), dense, sparse));
    return made.back()->batch;
  }
};

std::vector<float> dense_of(const Batch& batch, std::size_t column) {
  std::vector<float> values;
  for (std::size_t row = 0; row < batch.rows; ++row)
    values.push_back(batch.dense[row * batch.dense_features + column]);
  return values;
}

TEST_CASE("rows of several batches come sorted, equal ones in their order", "[actors][output]") {
  Sorted sorted;
  RowSorter sorter({SortColumn::Kind::kSparse, 0}, sorted.pool);
  sorter.add(sorted.batch({0, 1, 0}, {{1, 2, 3}}, {{{5}, {-2}, {9}}, {{1, 2}, {}, {3}}}));
  sorter.add(sorted.batch({1, 1}, {{4, 5}}, {{{5}, {}}, {{4}, {5, 6, 7}}}));
  const auto first = sorter.next(3);
  REQUIRE(first);
  CHECK(first->rows == 3);
  CHECK(dense_of(*first, 0) == std::vector<float>{2, 1, 4});  // ids -2, 5, 5
  CHECK(std::vector(first->labels, first->labels + 3) == std::vector<float>{1, 0, 1});
  CHECK(std::vector(first->lengths, first->lengths + 6) == std::vector{1, 1, 1, 0, 2, 1});
  CHECK(std::vector(first->ids, first->ids + first->num_ids) ==
        std::vector<std::int64_t>{-2, 5, 5, 1, 2, 4});
  const auto last = sorter.next(3);
  REQUIRE(last);
  CHECK(dense_of(*last, 0) == std::vector<float>{3, 5});  // id 9, then the row without one
  CHECK(std::vector(last->lengths, last->lengths + 4) == std::vector{1, 0, 1, 3});
  CHECK(sorter.next(3) == nullptr);
  sorter.add(sorted.batch({1}, {{7}}, {{{1}}, {{}}}));
  CHECK(dense_of(*sorter.next(3), 0) == std::vector<float>{7});
}

TEST_CASE("negative values come first, missing ones and NaN last", "[actors][output]") {
  Sorted sorted;
  RowSorter sorter({SortColumn::Kind::kDense, 1}, sorted.pool);
  const float nan = std::nanf("");
  sorter.add(sorted.batch({0, 0, 0, 0, 0, 0},
                          {{0, 1, 2, 3, 4, 5}, {nan, 2, -1, missing_value(), -3, 0}}, {}));
  CHECK(dense_of(*sorter.next(8), 0) == std::vector<float>{4, 2, 5, 1, 0, 3});
}

TEST_CASE("weights and extra columns go with their rows", "[actors][output]") {
  Sorted sorted;
  MadeBatch made({0, 1, 0}, {{1, 2, 3}}, {});
  std::vector<float> weights{0.5F, 1, 2};
  std::vector<std::int64_t> extras{30, 10, 20, 7, 8, 9};
  made.batch.weights = weights.data();
  made.batch.extra_columns = 2;
  made.batch.extras = extras.data();
  RowSorter sorter({SortColumn::Kind::kInteger, 0}, sorted.pool);
  sorter.add(made.batch);
  const auto batch = sorter.next(3);
  REQUIRE(batch);
  CHECK(std::vector(batch->weights, batch->weights + 3) == std::vector<float>{1, 2, 0.5F});
  CHECK(std::vector(batch->extras, batch->extras + 6) ==
        std::vector<std::int64_t>{10, 20, 30, 8, 9, 7});
}

TEST_CASE("a run ends with the batch that fills it", "[actors][output]") {
  Sorted sorted;
  // A row takes 3 * 4 bytes for length, label and weight, 8 for its id and 32 for its place.
  RowSorter sorter({SortColumn::Kind::kLabel, 0}, sorted.pool, 3 * 52 + 1);
  sorter.add(sorted.batch({0, 1, 0}, {}, {{{1}, {2}, {3}}}));
  CHECK_FALSE(sorter.full());
  sorter.add(sorted.batch({0}, {}, {{{4}}}));
  CHECK(sorter.full());
}

TEST_CASE("a column is found by its name, or those that exist are named", "[actors][output]") {
  Schema schema{{"d"}, {{"a", 0}, {"b", 0}}};
  schema.weight = true;
  schema.extra = {{"at", ExtraColumn::Kind::kFloat64}};
  const auto kind = [&](const std::string& name) {
    return SortColumn::find(schema, "y", "w", name).value().kind;
  };
  CHECK(kind("y") == SortColumn::Kind::kLabel);
  CHECK(kind("w") == SortColumn::Kind::kWeight);
  CHECK(kind("d") == SortColumn::Kind::kDense);
  CHECK(SortColumn::find(schema, "y", "w", "b").value().number == 1);
  CHECK(kind("at") == SortColumn::Kind::kReal);
  CHECK(SortColumn::find(schema, "y", "w", "c").error().message ==
        "--sort c: the rows have no such column; they have y, w, d, a, b, at");
  schema.weight = false;
  CHECK(SortColumn::find(schema, "y", "w", "w").error().message ==
        "--sort w: the rows have no such column; they have y, d, a, b, at");
}

}  // namespace
}  // namespace forebay::test
