#include "actors/stage/batcher.h"

#include "tests/support/columns.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

struct Rows {
  MemoryBudget budget{1 << 26};
  BufferPool pool{budget};
};

TEST_CASE("rows give the same batches however they are divided into sets", "[actors][cutter]") {
  Rows rows;
  Batcher whole(16, rows.pool);
  whole.add(test::numbered_rows(0, 40, rows.pool), 0);
  Batcher parts(16, rows.pool);
  std::size_t at = 0;
  for (const std::size_t size : {1, 0, 17, 2, 20}) {
    parts.add(test::numbered_rows(at, size, rows.pool), 0);
    at += size;
  }
  for (const std::size_t wanted : {16, 16, 8}) {
    const Batch left = whole.cut();
    const Batch right = parts.cut();
    REQUIRE(left.rows == wanted);
    CHECK(test::rows_of(left) == test::rows_of(right));
    CHECK(Batcher::digest(left) == Batcher::digest(right));
  }
  CHECK(whole.rows() == 0);
}

TEST_CASE("a batch is laid out as labels, row-major dense values and key-major lists",
          "[actors][cutter]") {
  Rows rows;
  Batcher batcher(3, rows.pool);
  batcher.add(test::numbered_rows(4, 3, rows.pool), 0);
  const Batch batch = batcher.cut();
  // Rows 4, 5, 6: the jagged feature has 4 % 3 = 1, 5 % 3 = 2 and 6 % 3 = 0 ids.
  CHECK(std::vector<std::int32_t>(batch.lengths, batch.lengths + 6) ==
        std::vector<std::int32_t>{1, 1, 1, 1, 2, 0});
  REQUIRE(batch.num_ids == 6);
  CHECK(std::vector<std::int64_t>(batch.ids, batch.ids + 6) ==
        std::vector<std::int64_t>{4, 5, 6, 4, 5, 5});
  CHECK(batch.labels[1] == 1.0F);
  CHECK(batch.dense[2] == 6.0F);
}

TEST_CASE("skipped rows are in no batch", "[actors][cutter]") {
  Rows rows;
  Batcher batcher(8, rows.pool);
  batcher.add(test::numbered_rows(0, 5, rows.pool), 5);
  batcher.add(test::numbered_rows(5, 5, rows.pool), 3);
  REQUIRE(batcher.rows() == 2);
  CHECK(batcher.cut().dense[0] == 8.0F);
}

TEST_CASE("a digest tells labels, values, lengths and ids apart", "[actors][cutter]") {
  Rows rows;
  const auto cut = [&](auto change) {
    ColumnSet columns = test::numbered_rows(0, 9, rows.pool);
    change(columns);
    Batcher batcher(9, rows.pool);
    batcher.add(std::move(columns), 0);
    return Batcher::digest(batcher.cut());
  };
  const Digest plain = cut([](ColumnSet&) {});
  CHECK(plain == cut([](ColumnSet&) {}));
  CHECK(plain != cut([](ColumnSet& columns) { columns.labels[8] = 1 - columns.labels[8]; }));
  CHECK(plain != cut([](ColumnSet& columns) { columns.dense[0][3] = -0.5F; }));
  CHECK(plain != cut([](ColumnSet& columns) { columns.sparse[0].values[2] ^= 1; }));
  // The same ids, one of them in the neighbouring row's list.
  CHECK(plain != cut([](ColumnSet& columns) { ++columns.sparse[1].offsets[1]; }));
}

TEST_CASE("batches return their memory", "[actors][cutter]") {
  Rows rows;
  {
    Batcher batcher(10, rows.pool);
    batcher.add(test::numbered_rows(0, 25, rows.pool), 0);
    const Batch batch = batcher.cut();
    CHECK(rows.budget.used() > 0);
  }
  rows.pool.trim();
  CHECK(rows.budget.used() == 0);
}

}  // namespace
}  // namespace forebay
