#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/format/parquet/column_decoder.h"
#include "actors/format/parquet/footer.h"
#include "actors/output/footer_writer.h"
#include "actors/output/group_encoder.h"
#include "core/base/cpu_level.h"
#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"
#include "tests/actors/output/made_batch.h"
#include "tests/support/memory_file_system.h"

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

using test::MadeBatch;
using Lists = MadeBatch::Lists;
using Type = OutputColumn::Type;
using Repeat = OutputColumn::Repeat;

/// A file with a row group for each batch, and what its footer says.
struct WrittenFile {
  std::string bytes;
  Footer footer;

  WrittenFile(const std::vector<OutputColumn>& columns, const std::vector<const Batch*>& batches)
      : bytes(kMagic) {
    FooterWriter end(columns);
    GroupEncoder encoder(columns);
    for (const Batch* batch : batches) {
      auto group = encoder.encode(*batch);
      REQUIRE(group);
      const std::uint64_t offset = bytes.size();
      bytes += group->bytes;
      end.add(std::move(*group), offset);
    }
    bytes += end.finish(bytes.size());
    test::MemoryFileSystem files;
    files.write("f", bytes);
    const auto file = files.open("f");
    REQUIRE(file);
    auto read = read_footer(**file);
    INFO((read ? "" : read.error().message));
    REQUIRE(read);
    footer = std::move(*read);
  }

  std::string pages(std::size_t group, std::size_t column) const {
    const Chunk& chunk = footer.groups[group].chunks[column];
    return bytes.substr(chunk.offset, chunk.bytes) + std::string(64, '\0');
  }
  PageReader::Limits limits(std::size_t group, std::size_t column) const {
    const Chunk& chunk = footer.groups[group].chunks[column];
    return {.codec = chunk.codec, .page_bytes = chunk.uncompressed_bytes, .values = chunk.values};
  }

  std::vector<float> dense(std::size_t group, std::size_t column) const {
    const std::string held = pages(group, column);
    std::vector<float> out(footer.groups[group].rows);
    const auto problem =
        decoder->flat(footer.leaves[column], {held.data(), held.size() - 64}, limits(group, column),
                      {.skipped = 0, .rows = out.size()}, missing_value(), out.data());
    CHECK(problem == "");
    return out;
  }

  Lists sparse(std::size_t group, std::size_t column) const {
    const std::string held = pages(group, column);
    const std::size_t rows = footer.groups[group].rows;
    std::vector<std::int64_t> ids(footer.groups[group].chunks[column].values + 1);
    std::vector<std::int32_t> offsets(rows + 1);
    IdSink sink{.values = ids.data(), .room = ids.size(), .offsets = offsets.data()};
    const auto problem = decoder->sparse(footer.leaves[column], {held.data(), held.size() - 64},
                                         limits(group, column), {.skipped = 0, .rows = rows}, sink);
    CHECK(problem == "");
    Lists lists;
    for (std::size_t row = 0; row < rows; ++row) {
      const auto begin = sink.jagged ? offsets[row] : static_cast<std::int32_t>(row);
      const auto end = sink.jagged ? offsets[row + 1] : begin + 1;
      lists.emplace_back(ids.begin() + begin, ids.begin() + end);
    }
    return lists;
  }

  std::unique_ptr<MemoryBudget> budget = std::make_unique<MemoryBudget>(std::size_t{1} << 30);
  std::unique_ptr<BufferPool> pool = std::make_unique<BufferPool>(*budget);
  std::unique_ptr<ColumnDecoder> decoder =
      std::make_unique<ColumnDecoder>(CpuLevel::kBaseline, *pool);
};

std::vector<OutputColumn> columns_for(bool may_lack) {
  return columns_of(
      {{"d", "e"}, {{"i", 1 << 20}, {"u", std::int64_t{1} << 32}, {"w", 0}, {"l", 0}}},
      {.label = "click", .may_lack = may_lack, .lists = {false, false, false, true}});
}

TEST_CASE("columns get the narrowest types that hold their ids", "[actors][output]") {
  const auto columns = columns_for(true);
  REQUIRE(columns.size() == 7);
  CHECK(columns[0].name == "click");
  CHECK(columns[1].repeat == Repeat::kOptional);
  CHECK(columns[3].type == Type::kInt32);
  CHECK(columns[4].type == Type::kUint32);
  CHECK(columns[5].type == Type::kInt64);
  CHECK(columns[6].repeat == Repeat::kList);
  CHECK(columns_for(false)[1].repeat == Repeat::kRequired);
}

TEST_CASE("every kind of column is read as it was written", "[actors][output]") {
  const float nan = std::nanf("");
  const MadeBatch first({1, 0, 0}, {{1.5F, missing_value(), -0.0F}, {nan, 2, 3}},
                        {{{5}, {}, {1 << 19}},
                         {{0xffffffff}, {0}, {}},
                         {{-1}, {std::int64_t{1} << 62}, {}},
                         {{1, 2, 3}, {}, {-4}}});
  const MadeBatch second({0}, {{missing_value()}, {7}}, {{{}}, {{1}}, {{}}, {{}}});
  const WrittenFile file(columns_for(true), {&first.batch, &second.batch});
  REQUIRE(file.footer.groups.size() == 2);
  CHECK(file.footer.rows == 4);
  CHECK(file.footer.leaves[6].name == "l");
  CHECK(file.dense(0, 0) == std::vector<float>{1, 0, 0});
  const auto d = file.dense(0, 1);
  CHECK(d[0] == 1.5F);
  CHECK(is_missing(d[1]));
  CHECK(std::signbit(d[2]));
  CHECK(std::isnan(file.dense(0, 2)[0]));
  CHECK(file.sparse(0, 3) == Lists{{5}, {}, {1 << 19}});
  CHECK(file.sparse(0, 4) == Lists{{0xffffffff}, {0}, {}});
  CHECK(file.sparse(0, 5) == Lists{{-1}, {std::int64_t{1} << 62}, {}});
  CHECK(file.sparse(0, 6) == Lists{{1, 2, 3}, {}, {-4}});
  CHECK(is_missing(file.dense(1, 1)[0]));
  CHECK(file.sparse(1, 3) == Lists{{}});
  CHECK(file.sparse(1, 6) == Lists{{}});
}

TEST_CASE("repeated and distinct values of 8192 rows are read as written", "[actors][output]") {
  constexpr std::size_t kRows = 8192;
  std::vector<float> labels(kRows, 0), few, many;
  Lists narrow, wide, distinct, lists;
  for (std::size_t i = 0; i < kRows; ++i) {
    const auto n = static_cast<std::int64_t>(i);
    few.push_back(static_cast<float>(i % 10));
    many.push_back(static_cast<float>(i) * 1.1F);
    narrow.push_back({n % 100});
    wide.push_back({n * 2654435761 % 4294967296});
    distinct.push_back(i % 5 == 0 ? std::vector<std::int64_t>{} : std::vector{n << 40});
    lists.emplace_back(i % 31, n % 77);
  }
  const MadeBatch made(labels, {few, many}, {narrow, wide, distinct, lists});
  const WrittenFile file(columns_for(false), {&made.batch});
  CHECK(file.dense(0, 1) == few);
  CHECK(file.dense(0, 2) == many);
  CHECK(file.sparse(0, 3) == narrow);
  CHECK(file.sparse(0, 4) == wide);
  CHECK(file.sparse(0, 5) == distinct);
  CHECK(file.sparse(0, 6) == lists);
  const auto& chunks = file.footer.groups[0].chunks;
  CHECK(chunks[0].bytes < 120);              // all labels are one run
  CHECK(chunks[3].bytes < kRows);            // 100 entries: 7 of 32 bits
  CHECK(chunks[4].bytes < kRows * 4 + 200);  // plain
  CHECK(chunks[6].bytes < kRows * 15 * 8 / 4);
}

TEST_CASE("each chunk has an offset index of its one page, and pages have checksums",
          "[actors][output]") {
  const MadeBatch made({1, 0}, {{1, 2}, {3, 4}}, {{{1}, {2}}, {{3}, {4}}, {{5}, {6}}, {{7}, {8}}});
  const WrittenFile file(columns_for(false), {&made.batch, &made.batch});
  for (const Group& group : file.footer.groups) {
    for (const Chunk& chunk : group.chunks) {
      OffsetIndex index;
      REQUIRE(
          ThriftReader({file.bytes.data() + chunk.index_offset, chunk.index_bytes}).read(index));
      REQUIRE(index.pages.size() == 1);
      CHECK(index.pages[0].first_row == 0);
      const auto offset = static_cast<std::uint64_t>(index.pages[0].offset);
      CHECK(offset + static_cast<std::uint64_t>(index.pages[0].compressed_bytes) ==
            chunk.offset + chunk.bytes);
      PageHeader header;
      REQUIRE(ThriftReader({file.bytes.data() + offset, 64}).read(header));
      CHECK(header.crc.has_value());
    }
  }
}

TEST_CASE("weights and extra columns are stored behind the features", "[actors][output]") {
  Schema schema{{"d"}, {}};
  schema.weight = true;
  schema.extra = {{"session", ExtraColumn::Kind::kInt64}, {"at", ExtraColumn::Kind::kFloat64}};
  const auto columns = columns_of(schema, {.label = "y", .weight = "w", .lists = {}});
  REQUIRE(columns.size() == 5);
  CHECK(columns[3].type == Type::kInt64);
  CHECK(columns[4].type == Type::kDouble);
  MadeBatch made({1, 0}, {{3, 4}}, {});
  std::vector<float> weights{0.5F, 2};
  std::vector<std::int64_t> extras{-7, std::int64_t{1} << 60, std::bit_cast<std::int64_t>(1.25),
                                   std::bit_cast<std::int64_t>(-2.5)};
  made.batch.weights = weights.data();
  made.batch.extra_columns = 2;
  made.batch.extras = extras.data();
  const WrittenFile file(columns, {&made.batch});
  CHECK(file.dense(0, 2) == weights);
  CHECK(file.sparse(0, 3) == Lists{{-7}, {std::int64_t{1} << 60}});
  CHECK(file.dense(0, 4) == std::vector<float>{1.25F, -2.5F});
}

TEST_CASE("an encoder refuses what its columns cannot hold", "[actors][output]") {
  GroupEncoder encoder(columns_for(false));
  const MadeBatch two({1}, {{1}, {2}}, {{{1, 2}}, {{}}, {{}}, {{}}});
  CHECK(encoder.encode(two.batch).error().message == "column i: a row has more than one id");
  const MadeBatch negative({1}, {{1}, {2}}, {{{-1}}, {{}}, {{}}, {{}}});
  CHECK(encoder.encode(negative.batch).error().message ==
        "column i: an id is not within the bound that its operator gave");
}

}  // namespace
}  // namespace forebay::parquet
