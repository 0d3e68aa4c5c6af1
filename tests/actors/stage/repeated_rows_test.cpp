// Columns that are stored once go through dealing, mixing, the wire and batches like plain ones.

#include "actors/stage/repeated_rows.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "actors/stage/batch_digest.h"
#include "actors/stage/batcher.h"
#include "actors/stage/rows/permute.h"
#include "core/base/random.h"
#include "core/data/repeated_columns.h"
#include "core/data/row_dealer.h"
#include "core/wire/column_frames.h"
#include "tests/support/any_columns.h"
#include "tests/support/repeated.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

struct Memory {
  MemoryBudget budget{1 << 28};
  BufferPool pool{budget};
};

const Schema& schema() {
  static const Schema schema = [] {
    Schema made{{"d0", "d1"}, {{"s0", 0}, {"s1", 0}, {"s2", 0}, {"s3", 0}}};
    made.repeated = {{.dense = {1}, .sparse = {0, 2}}, {.sparse = {3}}};
    return made;
  }();
  return schema;
}

/// Rows of which most repeat the row before them: a permutation with repetition of random ones.
ColumnSet repeating_rows(std::uint64_t seed, std::size_t rows, BufferPool& pool) {
  Random random(seed);
  const ColumnSet drawn = test::any_columns(random, {.rows = rows, .dense = 2, .sparse = 4}, pool);
  const RowSlice all{&drawn, 0, rows};
  std::vector<RowSlice> slices;
  std::size_t at = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    at = random.below(4) == 0 ? row : at;
    slices.push_back({&drawn, at, at + 1});
  }
  return rows == 0 ? join_rows({&all, 1}, pool) : join_rows(slices, pool);
}

/// Two sets that are dealt to runs, of which each run is permuted: as a split of two pieces.
std::vector<ColumnSet> parts_of(std::uint64_t seed, bool once, BufferPool& pool) {
  const RowDeal deal{.runs = 3, .key = seed};
  std::vector<ColumnSet> pieces;
  for (const std::size_t rows : {501, 64}) {
    pieces.push_back(repeating_rows(seed + rows, rows, pool));
    if (once) test::store_groups(pieces.back(), schema().repeated, pool);
    deal_rows(pieces.back(), deal, pool);
  }
  std::vector<ColumnSet> parts;
  for (std::size_t part = 0; part < 3; ++part) {
    std::vector<RowSlice> slices;
    for (const ColumnSet& piece : pieces) {
      const RowDealer dealer(deal, piece.rows);
      slices.push_back({&piece, dealer.begins()[part], dealer.begins()[part + 1]});
    }
    parts.push_back(permute_rows(slices, seed + part, pool));
  }
  return parts;
}

/// Sends columns to another process.
ColumnSet sent(const ColumnSet& columns, BufferPool& pool) {
  const PackOptions options{.bounds = {}, .repeated = schema().repeated};
  const Frames frames = pack_columns(columns, {}, options, pool);
  CHECK(frames.size() == column_frames(2));
  auto came = unpack_columns(frames,
                             {.max_rows = 1000,
                              .dense = 2,
                              .sparse = 4,
                              .max_bytes = 1 << 24,
                              .repeated = schema().repeated},
                             pool);
  INFO((came ? "" : came.error().message));
  REQUIRE(came);
  return std::move(came->columns);
}

enum class Columns { kPlain, kOnce, kOnceWithLists };

std::vector<Batch> batches_of(std::vector<ColumnSet> parts, Columns columns, std::size_t lanes,
                              BufferPool& pool) {
  RankedBatches all{.share = {}, .columns = schema()};
  if (columns == Columns::kPlain) all.columns.repeated.clear();
  all.lists_once = columns == Columns::kOnceWithLists;
  Batcher batcher(32, pool, lanes, all);
  for (ColumnSet& part : parts) batcher.add(std::move(part));
  std::vector<Batch> batches;
  while (batcher.rows() > 0) batches.push_back(batcher.cut());
  return batches;
}

TEST_CASE("batches of columns stored once are those of plain columns, bit for bit",
          "[actors][repeated_rows]") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Memory memory;
    const std::size_t lanes = seed % 2 == 0 ? 1 : 4;
    const auto plain =
        batches_of(parts_of(seed, false, memory.pool), Columns::kPlain, lanes, memory.pool);
    auto parts = parts_of(seed, true, memory.pool);
    if (seed % 3 == 0) {  // some parts were made on another node
      parts[1] = sent(parts[1], memory.pool);
      parts[2] = sent(parts[2], memory.pool);
    }
    const auto once = batches_of(std::move(parts), Columns::kOnce, lanes, memory.pool);
    REQUIRE(once.size() == plain.size());
    for (std::size_t i = 0; i < once.size(); ++i) {
      CHECK(digest_of(once[i]) == digest_of(plain[i]));
    }
  }
}

/// A row's list of a feature.
std::vector<std::int64_t> list_of(const Batch& batch, std::size_t feature, std::size_t row) {
  const std::int64_t* ids = batch.ids;
  for (std::size_t i = 0; i < feature * batch.rows + row; ++i) ids += batch.lengths[i];
  return {ids, ids + batch.lengths[feature * batch.rows + row]};
}

TEST_CASE("a batch says which of its rows share their values", "[actors][repeated_rows]") {
  Memory memory;
  const auto batches = batches_of(parts_of(5, true, memory.pool), Columns::kOnce, 1, memory.pool);
  std::size_t shared = 0;
  for (const Batch& batch : batches) {
    REQUIRE(batch.repeats.size() == 2);
    for (const BatchRepeats& group : batch.repeats) {
      shared += batch.rows - group.unique;
      for (std::size_t i = 0; i < group.unique; ++i) CHECK(group.numbers[group.first_rows[i]] == i);
      for (std::size_t row = 0; row < batch.rows; ++row) {
        const std::size_t first = group.first_rows[group.numbers[row]];
        CHECK(first <= row);
        for (const std::size_t feature : group.features.sparse) {
          CHECK(list_of(batch, feature, row) == list_of(batch, feature, first));
        }
      }
    }
  }
  CHECK(shared > 40);  // the rows do repeat
}

TEST_CASE("a batch with the lists of different rows alone has the digest of one with all",
          "[actors][repeated_rows]") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Memory memory;
    const auto all = batches_of(parts_of(seed, true, memory.pool), Columns::kOnce, 1, memory.pool);
    const auto once =
        batches_of(parts_of(seed, true, memory.pool), Columns::kOnceWithLists, 1, memory.pool);
    REQUIRE(once.size() == all.size());
    CHECK(once[0].num_ids < all[0].num_ids);
    for (std::size_t i = 0; i < once.size(); ++i) {
      CHECK(once[i].lists_once);
      REQUIRE(digest_of(once[i]) == digest_of(all[i]));
    }
  }
}

TEST_CASE("a reference to a repeated row that was not sent is refused", "[actors][repeated_rows]") {
  Memory memory;
  ColumnSet columns = repeating_rows(3, 20, memory.pool);
  test::store_groups(columns, schema().repeated, memory.pool);
  const PackOptions options{.bounds = {}, .repeated = schema().repeated, .checksum = false};
  Frames frames = pack_columns(columns, {}, options, memory.pool);
  const UnpackLimits limits{.max_rows = 1000,
                            .dense = 2,
                            .sparse = 4,
                            .max_bytes = 1 << 24,
                            .repeated = schema().repeated};
  Frames mixed = frames;
  std::swap(mixed[2], mixed[4]);
  std::swap(mixed[3], mixed[5]);
  CHECK_FALSE(unpack_columns(mixed, limits, memory.pool));  // groups of other features
  ColumnSet fewer = repeating_rows(4, 2, memory.pool);
  test::store_groups(fewer, schema().repeated, memory.pool);
  const Frames other = pack_columns(fewer, {}, options, memory.pool);
  frames[2] = other[2];
  frames[3] = other[3];
  const auto refused = unpack_columns(frames, limits, memory.pool);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("reference to row") != std::string::npos);
  UnpackLimits plain = limits;
  plain.repeated.clear();
  CHECK_FALSE(unpack_columns({other[0], other[1]}, plain, memory.pool));
}

}  // namespace
}  // namespace forebay
