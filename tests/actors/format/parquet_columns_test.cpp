#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "actors/format/parquet/column_decoder.h"
#include "actors/format/parquet/dealt_columns.h"
#include "core/base/random.h"
#include "core/data/column_set.h"
#include "tests/support/parquet_bytes.h"

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

using test::ThriftWriter;
using Ids = std::vector<std::int64_t>;
using Ends = std::vector<std::int32_t>;

constexpr const char* kSound = "";
constexpr int kPlain = 0;
constexpr int kIndices = 8;

/// A run of equal numbers of up to eight bits.
std::string run_of(std::size_t count, int value) {
  return {static_cast<char>(count << 1), static_cast<char>(value)};
}

/// Eight numbers in one packed group.
std::string packed(const std::string& bytes) { return '\x03' + bytes; }

template <class T>
std::string plain(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string page_of(int type, int field, const ThriftWriter& part, const std::string& body) {
  const auto size = static_cast<std::int64_t>(body.size());
  ThriftWriter header;
  header.number(1, type).number(2, size).number(3, size).inner(field, part);
  return header.ended() + body;
}

std::string dictionary_of(const Ids& entries) {
  const auto count = static_cast<std::int64_t>(entries.size());
  return page_of(2, 7, ThriftWriter().number(1, count).number(2, kPlain), plain(entries));
}

/// A page of version 2: `levels` levels, whose bits are in one packed group each.
struct TestPage {
  std::size_t levels = 0;
  std::string repetition = {};
  std::string definition = {};
  std::string values = {};
  int encoding = kPlain;

  std::string bytes() const {
    const auto count = static_cast<std::int64_t>(levels);
    ThriftWriter part;
    part.number(1, count).number(2, 0).number(3, count).number(4, encoding);
    part.number(5, static_cast<std::int64_t>(definition.size()));
    part.number(6, static_cast<std::int64_t>(repetition.size()));
    return page_of(3, 8, part, repetition + definition + values);
  }
};

/// A decoder, and what it made last.
struct DecodedColumn {
  MemoryBudget budget{1 << 26};
  BufferPool pool{budget};
  ColumnDecoder decoder{CpuLevel::kBaseline, pool};
  Leaf leaf{
      .name = "c", .type = "INT64", .physical = Physical::kInt64, .meaning = Meaning::kSigned};
  std::size_t room = 100;
  Ids ids = {};
  Ends ends = {};
  std::vector<std::uint8_t> stored = {};

  static constexpr PageReader::Limits kLimits{
      .codec = Codec::kNone, .page_bytes = 1 << 16, .values = 1000};

  /// The pages' bytes, with the padding of a buffer behind them.
  Buffer loaded(const std::string& pages) {
    Buffer buffer = pool.take(pages.size());
    std::memcpy(buffer.data(), pages.data(), pages.size());
    return buffer;
  }

  std::string flat(const std::string& pages, const RowRange& range) {
    const Buffer buffer = loaded(pages);
    ids.assign(range.rows, 0);
    return decoder.flat(leaf, {buffer.as<const char>(), pages.size()}, kLimits, range,
                        std::int64_t{-1}, ids.data());
  }

  std::string sparse(const std::string& pages, const RowRange& range) {
    const Buffer buffer = loaded(pages);
    ids.assign(room, 0);
    ends.assign(range.rows + 1, 0);
    IdSink sink{.values = ids.data(), .room = room, .offsets = ends.data()};
    auto problem =
        decoder.sparse(leaf, {buffer.as<const char>(), pages.size()}, kLimits, range, sink);
    ids.resize(sink.count);
    if (!sink.jagged) ends.clear();
    return problem;
  }

  /// Decodes lists; `stored` gets which rows have a list of their own in `ids` and `ends`.
  std::string distinct(const std::string& pages, const RowRange& range) {
    const Buffer buffer = loaded(pages);
    ids.assign(room, 0);
    ends.assign(range.rows + 1, 0);
    DistinctLists lists({.values = ids.data(), .offsets = ends.data()}, room);
    auto problem =
        decoder.distinct(leaf, {buffer.as<const char>(), pages.size()}, kLimits, range, lists);
    stored = lists.finish();
    const auto count = std::ranges::count(stored, std::uint8_t{1});
    ends.resize(static_cast<std::size_t>(count) + 1);
    ids.resize(static_cast<std::size_t>(ends.back()));
    return problem;
  }
};

void make_lists(Leaf& leaf) {
  leaf.most_definition = 1;
  leaf.most_repetition = 1;
}

TEST_CASE("an index past the end of its dictionary is refused, in a run and packed",
          "[actors][parquet]") {
  DecodedColumn column;
  const std::string known = dictionary_of({5, 9});
  const auto decode = [&](const std::string& indices) {
    const TestPage page{.levels = 8, .values = '\x02' + indices, .encoding = kIndices};
    return column.flat(known + page.bytes(), {.rows = 8});
  };
  CHECK(decode(run_of(8, 1)) == kSound);
  CHECK(column.ids == Ids(8, 9));
  CHECK(decode(packed("\x44\x11")) == kSound);  // 0, 1, 0, 1; 1, 0, 1, 0
  CHECK(column.ids == Ids{5, 9, 5, 9, 9, 5, 9, 5});
  CHECK(decode(run_of(8, 2)) == "a dictionary index past the dictionary's end");
  CHECK(decode(packed("\x44\x91")) == "a dictionary index past the dictionary's end");
  CHECK(decode(run_of(7, 1)) == "the dictionary indices of a page are not sound");
}

TEST_CASE("a dictionary that is shorter than it says is refused", "[actors][parquet]") {
  DecodedColumn column;
  const ThriftWriter three = ThriftWriter().number(1, 3).number(2, kPlain);
  CHECK(column.flat(page_of(2, 7, three, plain(Ids{1, 2})), {.rows = 1}) ==
        "the values of a page end early");
}

TEST_CASE("pages without indices and with too wide ones are refused", "[actors][parquet]") {
  DecodedColumn column;
  const std::string known = dictionary_of({5});
  const TestPage none{.levels = 1, .values = "", .encoding = kIndices};
  CHECK(column.flat(known + none.bytes(), {.rows = 1}) == "a page without its dictionary indices");
  const TestPage wide{.levels = 1, .values = '\x21' + run_of(1, 0), .encoding = kIndices};
  CHECK(column.flat(known + wide.bytes(), {.rows = 1}) ==
        "dictionary indices of more than 32 bits");
}

TEST_CASE("rows of a range come from the pages that hold them, nulls as the missing value",
          "[actors][parquet]") {
  DecodedColumn column;
  const std::string first = TestPage{.levels = 2, .values = plain(Ids{1, 2})}.bytes();
  const std::string second = TestPage{.levels = 3, .values = plain(Ids{3, 4, 5})}.bytes();
  CHECK(column.flat(first + second, {.skipped = 3, .rows = 2}) == kSound);
  CHECK(column.ids == Ids{4, 5});
  CHECK(column.sparse(first + second, {.skipped = 2, .rows = 2}) == kSound);
  CHECK(column.ids == Ids{3, 4});
  CHECK(column.ends.empty());
  CHECK(column.flat(first + second, {.skipped = 3, .rows = 3}) ==
        "the pages hold fewer rows than their metadata say");

  column.leaf.most_definition = 1;  // rows 1 and 2 of 0 to 3 are null
  const std::string nulls =
      TestPage{.levels = 4, .definition = packed("\x09"), .values = plain(Ids{6, 7})}.bytes();
  CHECK(column.flat(nulls, {.skipped = 1, .rows = 3}) == kSound);
  CHECK(column.ids == Ids{-1, -1, 7});
  CHECK(column.sparse(nulls, {.skipped = 0, .rows = 4}) == kSound);
  CHECK(column.ids == Ids{6, 7});
  CHECK(column.ends == Ends{0, 1, 1, 1, 2});
  CHECK(column.sparse(nulls + nulls, {.skipped = 0, .rows = 8}) == kSound);
  CHECK(column.ends == Ends{0, 1, 1, 1, 2, 3, 3, 3, 4});
  const std::string all_null = TestPage{.levels = 4, .definition = run_of(4, 0)}.bytes();
  CHECK(column.flat(all_null, {.rows = 4}) == kSound);
  CHECK(column.ids == Ids(4, -1));
  const std::string no_index =
      TestPage{.levels = 4, .definition = run_of(4, 0), .encoding = kIndices}.bytes();
  CHECK(column.flat(no_index, {.rows = 4}) == kSound);
}

TEST_CASE("lists of ids go on in the next page, and never past their room", "[actors][parquet]") {
  DecodedColumn column;
  make_lists(column.leaf);
  // Rows of 2, 0 and 3 ids; the last one's last id is in the second page.
  const std::string first = TestPage{.levels = 5,
                                     .repetition = packed("\x12"),
                                     .definition = packed("\x1b"),
                                     .values = plain(Ids{1, 2, 3, 4})}
                                .bytes();
  const std::string second = TestPage{.levels = 2,
                                      .repetition = packed("\x01"),
                                      .definition = run_of(2, 1),
                                      .values = plain(Ids{5, 6})}
                                 .bytes();
  CHECK(column.sparse(first + second, {.rows = 3}) == kSound);
  CHECK(column.ids == Ids{1, 2, 3, 4, 5});
  CHECK(column.ends == Ends{0, 2, 2, 5});
  CHECK(column.sparse(first + second, {.skipped = 1, .rows = 3}) == kSound);
  CHECK(column.ids == Ids{3, 4, 5, 6});
  CHECK(column.ends == Ends{0, 0, 3, 4});
  CHECK(column.sparse(second, {.rows = 1}) == "a page begins in the middle of a row");
  column.room = 4;
  CHECK(column.sparse(first + second, {.rows = 3}) == "more ids than the metadata say");
}

TEST_CASE("lists that repeat the list before are stored once, over the ends of pages",
          "[actors][parquet]") {
  using Stored = std::vector<std::uint8_t>;
  DecodedColumn column;
  make_lists(column.leaf);
  // Three rows 5 9, then one that begins with 9 and ends in the second page with 5.
  const std::string first =
      dictionary_of({5, 9}) + TestPage{.levels = 7,
                                       .repetition = packed("\x2a"),
                                       .definition = run_of(7, 1),
                                       .values = "\x01" + packed("\x6a"),  // 0 1 0 1 0 1 1
                                       .encoding = kIndices}
                                  .bytes();
  // The rest of it, then 9 5, an empty list, 5 9 and 5 9: the last two without the dictionary.
  const std::string second = TestPage{.levels = 4,
                                      .repetition = packed("\x05"),
                                      .definition = packed("\x07"),
                                      .values = "\x01" + packed("\x02"),  // 0 1 0
                                      .encoding = kIndices}
                                 .bytes();
  const std::string third = TestPage{.levels = 4,
                                     .repetition = packed("\x0a"),
                                     .definition = run_of(4, 1),
                                     .values = plain(Ids{5, 9, 5, 9})}
                                .bytes();
  CHECK(column.distinct(first + second + third, {.rows = 8}) == kSound);
  CHECK(column.stored == Stored{1, 0, 0, 1, 0, 1, 1, 0});
  CHECK(column.ids == Ids{5, 9, 9, 5, 5, 9});
  CHECK(column.ends == Ends{0, 2, 4, 4, 6});
  CHECK(column.distinct(first + second, {.skipped = 2, .rows = 3}) == kSound);
  CHECK(column.stored == Stored{1, 1, 0});
  CHECK(column.ids == Ids{5, 9, 9, 5});
  column.room = 3;
  CHECK(column.distinct(first, {.rows = 4}) == "more ids than the metadata say");
}

TEST_CASE("an index past the dictionary's end is found in a list that is stored",
          "[actors][parquet]") {
  DecodedColumn column;
  make_lists(column.leaf);
  const auto page = [](const std::string& indices) {
    return dictionary_of({5, 9}) + TestPage{.levels = 4,
                                            .repetition = run_of(4, 0),
                                            .definition = run_of(4, 1),
                                            .values = "\x02" + indices,
                                            .encoding = kIndices}
                                       .bytes();
  };
  CHECK(column.distinct(page(run_of(4, 1)), {.rows = 4}) == kSound);
  CHECK(column.ids == Ids{9});
  const std::string past = "a dictionary index past the dictionary's end";
  CHECK(column.distinct(page(run_of(4, 2)), {.rows = 4}) == past);
  CHECK(column.distinct(page(run_of(1, 1) + run_of(2, 2) + run_of(1, 1)), {.rows = 4}) == past);
  CHECK(column.distinct(page(run_of(3, 1)), {.rows = 4}) ==
        "the dictionary indices of a page are not sound");
}

/// Pages of random lists of few ids, of which many repeat; lists may go on in the next page.
std::string any_list_pages(Random& random, std::size_t rows) {
  std::string pages = dictionary_of({5, 9});
  std::vector<std::size_t> list;
  for (std::size_t row = 0; row < rows;) {
    TestPage page{.encoding = random.below(2) == 0 ? kPlain : kIndices};
    std::string indices;
    Ids ids;
    const auto add_level = [&](int repetition, int definition, std::size_t index) {
      ++page.levels;
      page.repetition += run_of(1, repetition);
      page.definition += run_of(1, definition);
      if (definition == 0) return;
      indices += run_of(1, static_cast<int>(index));
      ids.push_back(index == 0 ? 5 : 9);
    };
    for (std::size_t i = random.below(3); row > 0 && i > 0; --i) add_level(1, 1, random.below(2));
    for (std::size_t left = 1 + random.below(6); left > 0 && row < rows; --left, ++row) {
      if (random.below(3) == 0) list.assign(random.below(4), random.below(2));
      if (list.empty()) add_level(0, 0, 0);
      for (std::size_t i = 0; i < list.size(); ++i) add_level(i == 0 ? 0 : 1, 1, list[i]);
    }
    page.values = page.encoding == kPlain ? plain(ids) : "\x01" + indices;
    pages += page.bytes();
  }
  return pages;
}

TEST_CASE("lists stored once are the lists of every row", "[actors][parquet]") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    DecodedColumn every;
    make_lists(every.leaf);
    DecodedColumn once;
    once.leaf = every.leaf;
    const std::size_t rows = 1 + random.below(20);
    const std::string pages = any_list_pages(random, rows);
    const std::size_t skipped = random.below(rows);
    const RowRange range{.skipped = skipped, .rows = 1 + random.below(rows - skipped)};
    REQUIRE(every.sparse(pages, range) == kSound);
    REQUIRE(once.distinct(pages, range) == kSound);
    REQUIRE(once.stored.size() == range.rows);
    std::size_t list = 0;
    const auto list_of = [](const DecodedColumn& column, std::size_t i) {
      return Ids(column.ids.begin() + column.ends[i], column.ids.begin() + column.ends[i + 1]);
    };
    for (std::size_t row = 0; row < range.rows; ++row) {
      list += once.stored[row];
      REQUIRE(list_of(once, list - 1) == list_of(every, row));
      const bool differs = row == 0 || list_of(every, row) != list_of(every, row - 1);
      REQUIRE(once.stored[row] == (differs ? 1 : 0));
    }
  }
}

/// Decodes lists of two floats.
std::string decode_pairs(const std::string& pages, const RowRange& range,
                         std::vector<float>& items) {
  DecodedColumn column;
  make_lists(column.leaf);
  column.leaf.physical = Physical::kFloat;
  column.leaf.meaning = Meaning::kFloat;
  column.leaf.list_size = 2;
  const Buffer buffer = column.loaded(pages);
  items.assign(2 * range.rows, -1);
  return column.decoder.fixed_lists(column.leaf, {buffer.as<const char>(), pages.size()},
                                    DecodedColumn::kLimits, range, items.data());
}

bool is_missing(float value) {
  return std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(missing_value());
}

TEST_CASE("a column of type null has no values, and its dictionary is not read",
          "[actors][parquet]") {
  DecodedColumn column;
  column.leaf.meaning = Meaning::kNull;
  column.leaf.most_definition = 1;
  column.leaf.physical = GENERATE(Physical::kInt32, Physical::kByteArray);
  const std::string known = dictionary_of({5});
  const TestPage nulls{.levels = 4, .definition = run_of(4, 0), .encoding = kIndices};
  CHECK(column.flat(known + nulls.bytes(), {.rows = 4}) == kSound);
  CHECK(column.ids == Ids(4, -1));
  CHECK(column.sparse(known + nulls.bytes(), {.rows = 4}) == kSound);
  CHECK(column.ids.empty());
  const TestPage values{.levels = 4, .definition = run_of(4, 1), .values = plain(Ids{1, 2, 3, 4})};
  CHECK(column.flat(values.bytes(), {.rows = 4}) == "a value in a column of type null");
  CHECK(column.sparse(values.bytes(), {.rows = 4}) == "a value in a column of type null");
}

TEST_CASE("lists of a fixed size give their items by place", "[actors][parquet]") {
  // (1, 2), null, and (3, null) of which the second item is in the next page; then (4, 5).
  const std::string first = TestPage{.levels = 4,
                                     .repetition = packed("\x02"),
                                     .definition = packed("\x0b"),
                                     .values = plain(std::vector<float>{1, 2, 3})}
                                .bytes();
  const std::string second = TestPage{.levels = 3,
                                      .repetition = packed("\x05"),
                                      .definition = packed("\x06"),
                                      .values = plain(std::vector<float>{4, 5})}
                                 .bytes();
  std::vector<float> items;
  REQUIRE(decode_pairs(first + second, {.rows = 4}, items) == kSound);
  CHECK(items[0] == 1);
  CHECK(items[1] == 2);
  CHECK(is_missing(items[2]));
  CHECK(is_missing(items[3]));
  CHECK(items[4] == 3);
  CHECK(is_missing(items[5]));
  CHECK(items[6] == 4);
  CHECK(items[7] == 5);
  REQUIRE(decode_pairs(first + second, {.skipped = 2, .rows = 1}, items) == kSound);
  CHECK(items[0] == 3);
  CHECK(is_missing(items[1]));
  CHECK(decode_pairs(second, {.rows = 1}, items) == "a page begins in the middle of a row");
  const std::string none = "the pages hold fewer rows than their metadata say";
  CHECK(decode_pairs(first + second, {.rows = 5}, items) == none);
}

constexpr const char* kOtherRows = "the pages hold other rows than their offset index says";

TEST_CASE("rows behind a range are those that an offset index says, or the column is refused",
          "[actors][parquet]") {
  DecodedColumn column;
  const std::string pages = TestPage{.levels = 2, .values = plain(Ids{1, 2})}.bytes() +
                            TestPage{.levels = 3, .values = plain(Ids{3, 4, 5})}.bytes();
  CHECK(column.flat(pages, {.skipped = 1, .rows = 2, .behind = 2}) == kSound);
  CHECK(column.flat(pages, {.skipped = 1, .rows = 2, .behind = 1}) == kOtherRows);
  CHECK(column.flat(pages, {.skipped = 0, .rows = 5, .behind = 0}) == kSound);
  CHECK(column.flat(pages, {.skipped = 0, .rows = 2, .behind = 0}) == kOtherRows);  // a page more
  CHECK(column.sparse(pages, {.skipped = 1, .rows = 3, .behind = 1}) == kSound);
  CHECK(column.sparse(pages, {.skipped = 1, .rows = 3, .behind = 2}) == kOtherRows);
  CHECK(column.flat(pages + pages.substr(0, 4), {.rows = 5, .behind = 0}) != kSound);
}

TEST_CASE("lists behind a range are those that an offset index says, or the column is refused",
          "[actors][parquet]") {
  DecodedColumn column;
  make_lists(column.leaf);
  // Rows 1 2, 3 4 and 5 6 in a page.
  const std::string page = TestPage{.levels = 6,
                                    .repetition = packed("\x2a"),
                                    .definition = run_of(6, 1),
                                    .values = plain(Ids{1, 2, 3, 4, 5, 6})}
                               .bytes();
  const auto check = [&](const auto& decode) {
    CHECK(decode(page, RowRange{.rows = 3, .behind = 0}) == kSound);
    CHECK(decode(page, RowRange{.rows = 1, .behind = 2}) == kSound);
    CHECK(decode(page, RowRange{.rows = 1, .behind = 1}) == kOtherRows);
    CHECK(decode(page, RowRange{.skipped = 1, .rows = 1, .behind = 1}) == kSound);
    CHECK(decode(page, RowRange{.skipped = 1, .rows = 1, .behind = 0}) == kOtherRows);
    CHECK(decode(page, RowRange{.skipped = 1, .rows = 2, .behind = 1}) == kOtherRows);
    CHECK(decode(page + page, RowRange{.rows = 3, .behind = 0}) == kOtherRows);
    CHECK(decode(page + page, RowRange{.skipped = 2, .rows = 3, .behind = 1}) == kSound);
  };
  check(
      [&](const std::string& pages, const RowRange& range) { return column.sparse(pages, range); });
  check([&](const std::string& pages, const RowRange& range) {
    return column.distinct(pages, range);
  });
  std::vector<float> items;
  const std::string pairs = TestPage{.levels = 6,
                                     .repetition = packed("\x2a"),
                                     .definition = run_of(6, 1),
                                     .values = plain(std::vector<float>{1, 2, 3, 4, 5, 6})}
                                .bytes();
  CHECK(decode_pairs(pairs, {.rows = 3, .behind = 0}, items) == kSound);
  CHECK(decode_pairs(pairs, {.skipped = 1, .rows = 1, .behind = 1}, items) == kSound);
  CHECK(decode_pairs(pairs, {.skipped = 1, .rows = 1, .behind = 0}, items) == kOtherRows);
  CHECK(decode_pairs(pairs + pairs, {.rows = 3, .behind = 0}, items) == kOtherRows);
}

TEST_CASE("a list of another size than its type says is refused", "[actors][parquet]") {
  const auto page_with = [](const char* repetition, std::size_t levels) {
    return TestPage{.levels = levels,
                    .repetition = packed(repetition),
                    .definition = run_of(levels, 1),
                    .values = plain(std::vector<float>(levels, 1))}
        .bytes();
  };
  const std::string other = "a list of another size than its type says";
  std::vector<float> items;
  CHECK(decode_pairs(page_with("\x02", 2), {.rows = 1}, items) == kSound);
  CHECK(decode_pairs(page_with("\x06", 3), {.rows = 1}, items) == other);   // three items
  CHECK(decode_pairs(page_with("\x04", 3), {.rows = 2}, items) == other);   // one, then two
  CHECK(decode_pairs(page_with("\x02", 3), {.rows = 2}, items) == other);   // two, then one
  CHECK(decode_pairs(page_with("\x0a", 4), {.rows = 1}, items) == kSound);  // only the first
}

TEST_CASE("a column of lists is dealt from scratch memory to its place", "[actors][parquet]") {
  MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  DealtColumns dealt(pool);
  dealt.begin({.runs = 3, .key = 4}, 90);
  std::vector<float> rows(90);
  std::iota(rows.begin(), rows.end(), 0.0F);
  std::vector<float> order(90);
  std::ranges::copy(rows, dealt.source_of(order.data()));
  dealt.finish(order.data());
  CHECK(order != rows);

  std::vector<std::int64_t> values(200);
  std::vector<std::int32_t> offsets(91, -1);
  IdSink place{.values = values.data(), .room = 200, .offsets = offsets.data()};
  IdSink source = dealt.source_of(place);
  source.jagged = true;
  for (std::int32_t row = 0; row < 90; ++row) {
    for (std::int32_t i = 0; i < row % 4; ++i) source.values[source.count++] = row;
    source.offsets[row + 1] = static_cast<std::int32_t>(source.count);
  }
  source.rows = 90;
  dealt.finish(source, place);
  CHECK(place.jagged);
  CHECK(place.rows == 90);
  CHECK(place.count == source.count);
  REQUIRE(place.values == values.data());
  for (std::size_t row = 0; row < 90; ++row) {
    REQUIRE(offsets[row + 1] - offsets[row] == static_cast<std::int32_t>(order[row]) % 4);
    for (std::int32_t i = offsets[row]; i < offsets[row + 1]; ++i) {
      REQUIRE(values[static_cast<std::size_t>(i)] == static_cast<std::int64_t>(order[row]));
    }
  }
}

}  // namespace
}  // namespace forebay::parquet
