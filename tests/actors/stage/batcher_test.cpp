#include "actors/stage/batcher.h"

#include <bit>
#include <string>

#include "actors/stage/batch_digest.h"
#include "core/wire/column_frames.h"
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
  whole.add(test::numbered_rows(0, 40, rows.pool));
  Batcher parts(16, rows.pool);
  std::size_t at = 0;
  for (const std::size_t size : {1, 0, 17, 2, 20}) {
    parts.add(test::numbered_rows(at, size, rows.pool));
    at += size;
  }
  for (const std::size_t wanted : {16, 16, 8}) {
    const Batch left = whole.cut();
    const Batch right = parts.cut();
    REQUIRE(left.rows == wanted);
    CHECK(test::rows_of(left) == test::rows_of(right));
    CHECK(digest_of(left) == digest_of(right));
  }
  CHECK(whole.rows() == 0);
}

TEST_CASE("threads that copy a large batch together give the batch that one thread gives",
          "[actors][cutter]") {
  Rows rows;
  constexpr std::size_t kRows = 40'000;
  const std::size_t lanes = GENERATE(1, 4);
  ThreadTeam team(3);
  Batcher alone(kRows, rows.pool, lanes);
  Batcher together(kRows, rows.pool, lanes);
  together.copy_with(team);
  std::size_t at = 0;
  for (const std::size_t size : {3'000, 50'000, 1, 37'000}) {
    alone.add(test::numbered_rows(at, size, rows.pool));
    together.add(test::numbered_rows(at, size, rows.pool));
    at += size;
  }
  while (alone.rows() > 0) {
    const Batch left = alone.cut();
    const Batch right = together.cut();
    CHECK((left.rows < kRows || left.bytes() > (1 << 20)));  // Smaller ones wake no thread.
    CHECK(test::rows_of(left) == test::rows_of(right));
    CHECK(digest_of(left) == digest_of(right));
  }
}

TEST_CASE("a batch is laid out as labels, row-major dense values and key-major lists",
          "[actors][cutter]") {
  Rows rows;
  Batcher batcher(3, rows.pool);
  batcher.add(test::numbered_rows(4, 3, rows.pool));
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
  batcher.skip(8);
  CHECK(batcher.add(test::numbered_rows(0, 5, rows.pool)) == 5);
  CHECK(batcher.add(test::numbered_rows(5, 5, rows.pool)) == 3);
  REQUIRE(batcher.rows() == 2);
  CHECK(batcher.cut().dense[0] == 8.0F);
}

TEST_CASE("each lane gives every batch the next rows of its own", "[actors][cutter]") {
  Rows rows;
  Batcher batcher(8, rows.pool, 4);
  // Of nine rows lane 0 takes 0 and 1, lane 1 takes 2 and 3, and so on; row 8 is left for lane 3,
  // whose turn is first.
  batcher.add(test::numbered_rows(0, 9, rows.pool));
  // Of six rows each lane takes one, 100 … 103; the rows left over go to lanes 1 and 2.
  batcher.add(test::numbered_rows(100, 6, rows.pool));
  batcher.add(test::numbered_rows(200, 4, rows.pool));
  const auto cut = [&] {
    const Batch batch = batcher.cut();
    return std::vector<float>(batch.dense, batch.dense + batch.rows);
  };
  CHECK(cut() == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(cut() == std::vector<float>{100, 200, 101, 104, 102, 105, 8, 103});
  CHECK(cut() == std::vector<float>{201, 202, 203});
  CHECK(batcher.rows() == 0);
  // The next epoch begins with the first lane again.
  batcher.add(test::numbered_rows(300, 1, rows.pool));
  CHECK(cut() == std::vector<float>{300});
}

TEST_CASE("lanes that skip what earlier batches had go on with the same batches",
          "[actors][cutter]") {
  Rows rows;
  const std::vector<std::size_t> sizes{0, 3, 40, 1, 17, 200, 5, 33};
  const auto sets_from = [&](Batcher& batcher, std::size_t first) {
    std::size_t skipped = 0;
    for (std::size_t i = first; i < sizes.size(); ++i) {
      skipped += batcher.add(test::numbered_rows(1000 * i, sizes[i], rows.pool));
    }
    return skipped;
  };
  for (const std::size_t lanes : {1, 2, 4, 16}) {
    for (std::size_t first = 0, before = 0; first < sizes.size(); before += sizes[first++]) {
      Batcher whole(16, rows.pool, lanes);
      sets_from(whole, 0);
      // The first border between two batches in or behind set `first`.
      const std::size_t batches = (before + 15) / 16;
      for (std::size_t i = 0; i < batches && whole.rows() > 0; ++i) whole.cut();
      Batcher rest(16, rows.pool, lanes);
      rest.skip(16 * batches - before);
      CHECK(sets_from(rest, first) == 16 * batches - before);
      REQUIRE(rest.rows() == whole.rows());
      while (rest.rows() > 0) CHECK(test::rows_of(rest.cut()) == test::rows_of(whole.cut()));
    }
  }
}

TEST_CASE("a digest tells labels, values, lengths and ids apart", "[actors][cutter]") {
  Rows rows;
  const auto cut = [&](auto change) {
    ColumnSet columns = test::numbered_rows(0, 9, rows.pool);
    change(columns);
    Batcher batcher(9, rows.pool);
    batcher.add(std::move(columns));
    return digest_of(batcher.cut());
  };
  const Digest plain = cut([](ColumnSet&) {});
  CHECK(plain == cut([](ColumnSet&) {}));
  CHECK(plain != cut([](ColumnSet& columns) { columns.labels[8] = 1 - columns.labels[8]; }));
  CHECK(plain != cut([](ColumnSet& columns) { columns.dense[0][3] = -0.5F; }));
  CHECK(plain != cut([](ColumnSet& columns) { columns.sparse[0].values[2] ^= 1; }));
  // The same ids, one of them in the neighbouring row's list.
  CHECK(plain != cut([](ColumnSet& columns) { ++columns.sparse[1].offsets[1]; }));
}

TEST_CASE("weights and extra columns of any pieces are those of one piece", "[actors][cutter]") {
  Rows rows;
  const auto made = [&](std::size_t first, std::size_t count) {
    return test::with_rest(test::numbered_rows(first, count, rows.pool), first, rows.pool);
  };
  Batcher whole(16, rows.pool);
  whole.add(made(0, 40));
  Batcher parts(16, rows.pool);
  parts.add(made(0, 3));
  parts.add(made(3, 17));
  // The last piece came from another process.
  const Frames frames = pack_columns(made(20, 20), {}, {}, rows.pool);
  auto came = unpack_columns(
      frames,
      {.max_rows = 99, .dense = 1, .sparse = 2, .max_bytes = 1 << 20, .weights = true, .extras = 2},
      rows.pool);
  REQUIRE(came);
  parts.add(std::move(came->columns));
  for (std::size_t number = 0; number < 3; ++number) {
    const Batch left = whole.cut();
    const Batch right = parts.cut();
    REQUIRE(left.extra_columns == 2);
    CHECK(test::rows_of(left) == test::rows_of(right));
    CHECK(digest_of(left) == digest_of(right));
    CHECK(left.weights[3] == static_cast<float>(16 * number + 3) / 4);
    CHECK(left.extras[left.rows + 3] ==
          std::bit_cast<std::int64_t>(static_cast<double>(16 * number + 3)));
  }
}

TEST_CASE("a digest covers weights and then extra columns, and nothing more without them",
          "[actors][cutter]") {
  Rows rows;
  const auto cut = [&](auto change) {
    ColumnSet columns = test::with_rest(test::numbered_rows(0, 9, rows.pool), 0, rows.pool);
    change(columns);
    Batcher batcher(9, rows.pool);
    batcher.add(std::move(columns));
    return batcher.cut();
  };
  const auto digest = [&](auto change) { return digest_of(cut(change)); };
  const Digest both = digest([](ColumnSet&) {});
  CHECK(both != digest([](ColumnSet& columns) { columns.weights[8] = 9; }));
  CHECK(both != digest([](ColumnSet& columns) { columns.extras[0][0] = 9; }));
  CHECK(both != digest([](ColumnSet& columns) { columns.extras[1][8] ^= 1; }));
  CHECK(both != digest([](ColumnSet& columns) { columns.weights = nullptr; }));
  CHECK(both != digest([](ColumnSet& columns) { columns.extras.pop_back(); }));

  // By hand: labels, dense values, lengths, ids, weights, extra columns.
  const Batch batch = cut([](ColumnSet&) {});
  std::string bytes;
  const auto append = [&](const void* from, std::size_t size) {
    bytes.append(static_cast<const char*>(from), size);
  };
  append(batch.labels, 9 * 4);
  append(batch.dense, 9 * 4);
  append(batch.lengths, 2 * 9 * 4);
  append(batch.ids, batch.num_ids * 8);
  const Digest without = Digest::of(bytes.data(), bytes.size());
  append(batch.weights, 9 * 4);
  append(batch.extras, 2 * 9 * 8);
  CHECK(both == Digest::of(bytes.data(), bytes.size()));
  CHECK(without == digest([](ColumnSet& columns) {
          columns.weights = nullptr;
          columns.extras.clear();
        }));
}

TEST_CASE("batches return their memory", "[actors][cutter]") {
  Rows rows;
  {
    Batcher batcher(10, rows.pool);
    batcher.add(test::numbered_rows(0, 25, rows.pool));
    const Batch batch = batcher.cut();
    CHECK(rows.budget.used() > 0);
  }
  rows.pool.trim();
  CHECK(rows.budget.used() == 0);
}

}  // namespace
}  // namespace forebay
