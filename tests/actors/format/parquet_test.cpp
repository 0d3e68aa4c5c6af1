#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/format/parquet/footer.h"
#include "actors/format/parquet/parquet_format.h"
#include "actors/format/parquet/repeat_sample.h"
#include "actors/output/footer_writer.h"
#include "actors/output/group_encoder.h"
#include "tests/actors/output/made_batch.h"
#include "tests/support/memory_file_system.h"
#include "tests/support/parquet_bytes.h"
#include "tests/support/repeated.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::ParquetBytes;
using test::ParquetColumn;

constexpr const char* kPath = "memory://a";

Result<std::unique_ptr<const InputFile>> no_more() { return nullptr; }

/// A Parquet file in memory and the format that its columns label, value and id give.
struct OpenParquet {
  explicit OpenParquet(std::string content, std::uint64_t memory = 1 << 28,
                       const ColumnSpec& columns = {.label = "label",
                                                    .dense = {"value"},
                                                    .sparse = {"id"}})
      : budget(memory) {
    files.write(kPath, std::move(content));
    auto opened = files.open(kPath);
    REQUIRE(opened);
    file = std::move(*opened);
    auto made = open_parquet({}, columns, *file, no_more);
    if (!made) {
      error = made.error().message;
      return;
    }
    format = std::move(*made);
    auto cut = format->open(*file);
    if (!cut) {
      error = cut.error().message;
      return;
    }
    units = std::move(*cut);
  }

  /// Decodes some units at once; `reserved`: as if each were to take as many bytes.
  Decoded decode(std::size_t first, std::size_t end, const DecodeOptions& options = {},
                 std::optional<std::uint64_t> reserved = {}) {
    const std::vector<Unit> all = units->units();
    RawSplit raw;
    std::uint64_t bytes = 0;
    std::uint64_t row = 0;
    for (std::size_t i = 0; i < end; row += all[i++].rows) {
      if (i < first) continue;
      raw.blocks.push_back({.file = 0,
                            .rows = all[i].rows,
                            .offset = row,
                            .line = i,
                            .decoded = reserved.value_or(all[i].decoded)});
      raw.sizes.push_back(units->read_of(i).bytes());
      bytes += raw.sizes.back();
    }
    raw.bytes = pool.take(bytes);
    char* at = raw.bytes.as<char>();
    for (std::size_t i = first; i < end; ++i) {
      const UnitRead read = units->read_of(i);
      at = std::ranges::copy(read.head, at).out;
      for (const FileRange& range : read.ranges) {
        REQUIRE(file->read(range.offset, {at, range.bytes}));
        at += range.bytes;
      }
    }
    return format->decode(raw, options, pool);
  }

  test::MemoryFileSystem files;
  MemoryBudget budget;
  BufferPool pool{budget};
  std::unique_ptr<const InputFile> file;
  std::unique_ptr<UnitFormat> format;
  std::unique_ptr<UnitFile> units;
  std::string error;
};

std::vector<ParquetColumn> columns_of(std::int64_t rows) {
  std::vector<ParquetColumn> columns = {{.name = "label", .values = {}},
                                        {.name = "value", .values = {}},
                                        {.name = "id", .values = {}}};
  for (std::int64_t i = 0; i < rows; ++i) {
    columns[0].values.push_back(i % 2);
    columns[1].values.push_back(i);
    columns[2].values.push_back(i % 100 * 7);
  }
  return columns;
}

TEST_CASE("grains at pages that do not align give each row once", "[actors][parquet]") {
  const std::int64_t rows = 400'000;
  std::vector<ParquetColumn> columns = columns_of(rows);
  columns[0].page_rows = 20'000;
  columns[1].page_rows = 20'000;
  columns[2].page_rows = 7'000;
  columns[2].dictionary = true;
  OpenParquet parquet(ParquetBytes::file_of(columns, {.group_rows = 400'000}));
  REQUIRE(parquet.error.empty());
  const std::vector<Unit> units = parquet.units->units();
  REQUIRE(units.size() > 3);
  std::int64_t row = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const Decoded decoded = parquet.decode(i, i + 1);
    REQUIRE_FALSE(decoded.damaged);
    REQUIRE(decoded.columns.rows == units[i].rows);
    CHECK(decoded.columns.bytes() <= units[i].decoded);
    CHECK(decoded.columns.sparse[0].offsets == nullptr);
    for (std::size_t at = 0; at < units[i].rows; ++at, ++row) {
      if (decoded.columns.dense[0][at] != static_cast<float>(row) ||
          decoded.columns.labels[at] != static_cast<float>(row % 2) ||
          decoded.columns.sparse[0].values[at] != row % 100 * 7) {
        FAIL("row " << row);
      }
    }
  }
  CHECK(row == rows);
}

TEST_CASE("several grains are decoded into one split, without damaged and held-out rows",
          "[actors][parquet]") {
  std::vector<ParquetColumn> columns = columns_of(64);
  columns[0].values[5] = 3;
  columns[0].values[40] = -1;
  OpenParquet parquet(ParquetBytes::file_of(columns, {.group_rows = 16}));
  REQUIRE(parquet.units->units().size() == 4);
  const Decoded all = parquet.decode(0, 4, {.filter = {}, .keep_origins = true});
  CHECK(all.columns.rows == 62);
  REQUIRE(all.bad.size() == 2);
  CHECK(place_of(all.bad[0]) == "row group 0, row 5");
  CHECK(all.bad[0].reason == "label: 3 is not 0 or 1");
  CHECK(place_of(all.bad[1]) == "row group 2, row 8");
  CHECK(all.bad[1].offset == 40);
  CHECK(all.columns.dense[0][5] == 6);
  CHECK(all.columns.sparse[0].values[61] == 63 * 7);
  CHECK(all.columns.origins[61].offset() == 63);

  const DecodeOptions training{.filter = RowFilter(RowFilter::Keep::kTraining, 1, 0.5)};
  const DecodeOptions held_out{.filter = RowFilter(RowFilter::Keep::kHeldOut, 1, 0.5)};
  const Decoded some = parquet.decode(0, 4, training);
  CHECK(some.filtered > 0);
  CHECK(some.columns.rows + some.filtered == 62);
  CHECK(parquet.decode(0, 4, held_out).columns.rows == some.filtered);
}

/// Whether two sets hold the same rows in the same order.
bool same_rows(const ColumnSet& one, const ColumnSet& other) {
  if (one.rows != other.rows) return false;
  for (std::size_t i = 0; i < one.rows; ++i) {
    if (one.labels[i] != other.labels[i] || one.dense[0][i] != other.dense[0][i] ||
        one.origins[i].packed != other.origins[i].packed) {
      return false;
    }
  }
  const std::int64_t* const ids = one.sparse[0].values;
  return std::equal(ids, ids + one.rows, other.sparse[0].values);
}

TEST_CASE("what is dealt at once is what is dealt at the end", "[actors][parquet]") {
  const RowDeal deal{.runs = 7, .key = 11};
  OpenParquet parquet(ParquetBytes::file_of(columns_of(1000), {.group_rows = 500}));
  REQUIRE(parquet.units->units().size() == 2);
  const auto compare = [&](std::size_t end, const RowFilter& filter) {
    const DecodeOptions plain{.filter = filter, .keep_origins = true};
    DecodeOptions dealing = plain;
    dealing.deal = deal;
    Decoded expected = parquet.decode(0, end, plain);
    CHECK_FALSE(expected.is_dealt);
    deal_rows(expected.columns, deal, parquet.pool);
    Decoded dealt = parquet.decode(0, end, dealing);
    const bool at_once = dealt.is_dealt;
    if (!at_once) deal_rows(dealt.columns, deal, parquet.pool);
    CHECK(same_rows(expected.columns, dealt.columns));
    return at_once;
  };
  CHECK(compare(1, {}));
  CHECK_FALSE(compare(2, {}));
  CHECK_FALSE(compare(1, RowFilter(RowFilter::Keep::kTraining, 1, 0.5)));
}

TEST_CASE("repeated columns are stored once while they are decoded, and dealt by reference",
          "[actors][parquet]") {
  std::vector<ParquetColumn> columns = columns_of(64);
  for (std::int64_t i = 0; i < 64; ++i) {
    columns[1].values[static_cast<std::size_t>(i)] = i / 5;
    columns[2].values[static_cast<std::size_t>(i)] = i / 10;
  }
  columns[0].values[40] = 3;  // damaged
  const std::string bytes = ParquetBytes::file_of(columns, {.group_rows = 32});
  const ColumnSpec chosen{.label = "label", .dense = {"value"}, .sparse = {"id"}};
  ColumnSpec grouped = chosen;
  grouped.dedup = {{"id", "value"}};
  OpenParquet plain(bytes, 1 << 28, chosen);
  OpenParquet once(bytes, 1 << 28, grouped);
  REQUIRE(once.error.empty());
  const auto compare = [&](std::size_t end, const DecodeOptions& options) {
    Decoded expected = plain.decode(0, end, options);
    Decoded decoded = once.decode(0, end, options);
    CHECK(decoded.is_dealt == expected.is_dealt);
    const auto counts = store_repeated(decoded, once.format->schema(), once.pool);
    CHECK(decoded.columns.dense[0] == nullptr);
    test::make_plain(decoded.columns, once.format->schema().repeated, once.pool);
    CHECK(same_rows(decoded.columns, expected.columns));
    return counts.at(0);
  };
  const DecodeOptions all{.filter = {}, .keep_origins = true};
  // Each of 13 different rows is stored once, but that of rows 30 to 34 in the sets of both grains.
  CHECK(compare(2, all) == RepeatCount{.rows = 63, .unique = 14, .bytes = 63 * 12});
  DecodeOptions dealt = all;
  dealt.deal = RowDeal{.runs = 7, .key = 11};
  CHECK(once.decode(0, 1, dealt).is_dealt);
  CHECK(compare(1, dealt) == RepeatCount{.rows = 32, .unique = 7, .bytes = 32 * 12});
  DecodeOptions training = all;
  training.filter = RowFilter(RowFilter::Keep::kTraining, 1, 0.5);
  CHECK(compare(2, training).rows < 63);
}

TEST_CASE("a sample says how often the values of each column come in a row", "[actors][parquet]") {
  std::vector<ParquetColumn> columns = columns_of(3000);
  for (std::int64_t i = 0; i < 3000; ++i) columns[1].values[static_cast<std::size_t>(i)] = i / 6;
  columns[1].dictionary = true;
  const OpenParquet parquet(ParquetBytes::file_of(columns, {.group_rows = 1200}));
  MemoryBudget budget(1 << 28);
  BufferPool pool(budget);
  const auto footer = parquet::read_footer(*parquet.file);
  REQUIRE(footer);
  const auto samples = parquet::sample_repeats(*parquet.file, *footer, pool);
  REQUIRE(samples);
  REQUIRE(samples->size() == 3);
  CHECK((*samples)[0].in_a_row() == 1);  // 0 1 0 1
  CHECK((*samples)[1].rows == 1200);     // of the first row group
  CHECK((*samples)[1].different == 200);
  CHECK((*samples)[1].in_a_row() == 6);
  CHECK(RepeatSample{}.in_a_row() == 0);
}

TEST_CASE("weights and extra columns stay with the rows that are left", "[actors][parquet]") {
  std::vector<ParquetColumn> columns = columns_of(6);
  columns[0].values = {3, 1, 0, 1, 0, 1};
  columns.push_back({.name = "weight", .values = {9, 1, 2, -1, 4, 5}});
  columns.push_back({.name = "session", .values = {10, 11, 12, 13, 14, 15}});
  OpenParquet parquet(ParquetBytes::file_of(columns, {}), 1 << 28,
                      {.label = "label",
                       .dense = {"value"},
                       .sparse = {"id"},
                       .weight = "weight",
                       .extra = {"session"}});
  REQUIRE(parquet.error.empty());
  const Decoded decoded = parquet.decode(0, 1);
  REQUIRE(decoded.columns.rows == 4);
  REQUIRE(decoded.bad.size() == 2);
  CHECK(decoded.bad[0].reason == "label: 3 is not 0 or 1");
  CHECK_THAT(decoded.bad[1].reason, Catch::StartsWith("column \"weight\": -1"));
  for (std::size_t i = 0; i < 4; ++i) {
    const std::int64_t row =
        i < 2 ? static_cast<std::int64_t>(i) + 1 : static_cast<std::int64_t>(i) + 2;
    CHECK(decoded.columns.labels[i] == static_cast<float>(row % 2));
    CHECK(decoded.columns.weights[i] == static_cast<float>(row));
    CHECK(decoded.columns.extras[0][i] == 10 + row);
    CHECK(decoded.columns.sparse[0].values[i] == 7 * row);
  }
}

TEST_CASE("truncated files are refused, each with its path", "[actors][parquet]") {
  const std::string whole = ParquetBytes::file_of(columns_of(1000), {.group_rows = 100});
  for (std::size_t percent = 0; percent < 100; ++percent) {
    OpenParquet parquet(whole.substr(0, whole.size() * percent / 100));
    CHECK_THAT(parquet.error, Catch::StartsWith(kPath + std::string(": ")));
  }
}

TEST_CASE("a changed byte is refused or found by a checksum, in bounded memory",
          "[actors][parquet]") {
  std::vector<ParquetColumn> columns = columns_of(40);
  columns[2].dictionary = true;
  const std::string whole = ParquetBytes::file_of(columns, {.group_rows = 20});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      OpenParquet parquet(damaged, 1 << 26);
      if (!parquet.error.empty()) {
        CHECK_THAT(parquet.error, Catch::StartsWith(kPath));
        continue;
      }
      const std::vector<Unit> units = parquet.units->units();
      for (std::size_t i = 0; i < units.size() && units[i].decoded < 1 << 25; ++i) {
        const Decoded decoded = parquet.decode(i, i + 1);
        if (decoded.damaged) CHECK_THAT(decoded.damaged->reason, Catch::StartsWith("column \""));
      }
      CHECK(parquet.budget.peak() < 1 << 26);
    }
  }
}

TEST_CASE("the index of pages decides the borders and is part of the content",
          "[actors][parquet]") {
  std::vector<ParquetColumn> columns = columns_of(400'000);
  for (ParquetColumn& column : columns) column.page_rows = 20'000;
  OpenParquet with(ParquetBytes::file_of(columns, {.group_rows = 400'000}));
  OpenParquet without(
      ParquetBytes::file_of(columns, {.group_rows = 400'000, .offset_index = false}));
  CHECK(with.units->units().size() > 1);
  CHECK(without.units->units().size() == 1);
  CHECK(with.units->content() != without.units->content());
}

TEST_CASE("the index of a job is not that of another with the same columns in other roles",
          "[actors][parquet]") {
  const std::string file = ParquetBytes::file_of(columns_of(100), {.group_rows = 100});
  const OpenParquet sparse(file);
  const OpenParquet extra(file, 1 << 28, {.label = "label", .dense = {"value"}, .extra = {"id"}});
  REQUIRE(extra.error.empty());
  CHECK(sparse.units->units() != extra.units->units());
  CHECK(sparse.format->index_settings() != extra.format->index_settings());
}

TEST_CASE("an index of pages with other rows than they hold is damage of its column",
          "[actors][parquet]") {
  for (const int shift : {-1, 1}) {
    std::vector<ParquetColumn> columns = columns_of(400'000);
    for (ParquetColumn& column : columns) column.page_rows = 20'000;
    columns[1].index_shift = shift;
    OpenParquet parquet(ParquetBytes::file_of(columns, {.group_rows = 400'000}));
    const std::size_t grains = parquet.units->units().size();
    REQUIRE(grains > 2);
    for (const std::size_t grain : {std::size_t{0}, grains - 1}) {
      const Decoded decoded = parquet.decode(grain, grain + 1);
      REQUIRE(decoded.damaged);
      CHECK(decoded.damaged->reason.starts_with("column \"value\": the pages hold "));
    }
  }
}

TEST_CASE("a column that cannot be read refuses its file only if the job wants it",
          "[actors][parquet]") {
  std::vector<ParquetColumn> columns = columns_of(40);
  columns[2].codec = 3;  // LZO
  const ColumnSpec without_id = {.label = "label", .dense = {"value"}};
  const std::string lzo = ParquetBytes::file_of(columns, {.group_rows = 40});
  OpenParquet sound(lzo, 1 << 28, without_id);
  REQUIRE(sound.error.empty());
  const Decoded decoded = sound.decode(0, 1);
  REQUIRE_FALSE(decoded.damaged);
  CHECK(decoded.columns.dense[0][39] == 39);
  CHECK(OpenParquet(lzo).error ==
        kPath + std::string(": row group 0, column \"id\" is compressed by codec 3, which this "
                            "version lacks"));
  columns[2] = {.name = "id", .values = columns[2].values, .path = "b.parquet"};
  const std::string elsewhere = ParquetBytes::file_of(columns, {.group_rows = 40});
  CHECK(OpenParquet(elsewhere, 1 << 28, without_id).error.empty());
  CHECK(OpenParquet(elsewhere).error ==
        kPath + std::string(": row group 0, column \"id\" lies in another file"));
}

/// A row group of 1000 rows, in which the first has 5000 ids and every other one.
std::string lists_in_one_row() {
  std::vector<std::vector<std::int64_t>> lists(1000, {3});
  lists[0].assign(5000, 7);
  const test::MadeBatch made(std::vector<float>(1000, 1), {}, {lists});
  const auto columns = parquet::columns_of({{}, {{"id", 0}}}, {.lists = {true}});
  parquet::FooterWriter footer(columns);
  auto group = parquet::GroupEncoder(columns).encode(made.batch);
  REQUIRE(group);
  std::string bytes(parquet::kMagic);
  const std::uint64_t offset = bytes.size();
  bytes += group->bytes;
  footer.add(std::move(*group), offset);
  return bytes + footer.finish(bytes.size());
}

TEST_CASE("lists that take more than is reserved are refused by name", "[actors][format]") {
  OpenParquet open(lists_in_one_row(), 1 << 28, {.label = "label", .dense = {}, .sparse = {"id"}});
  REQUIRE(open.error.empty());
  const Unit unit = open.units->units().at(0);
  CHECK(unit.decoded >= 5999 * sizeof(std::int64_t));  // the footer bounds a whole group
  CHECK_FALSE(open.decode(0, 1).damaged);
  const Decoded refused = open.decode(0, 1, {}, 5999 * sizeof(std::int64_t));  // without offsets
  REQUIRE(refused.damaged);
  CHECK(refused.damaged->reason.starts_with(
      "column \"id\": its lists have up to 5999 ids in 1000 rows"));
}

}  // namespace
}  // namespace forebay
