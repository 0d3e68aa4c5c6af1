#include "actors/format/parquet/page_reader.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "actors/format/parquet/encoding/bit_unpack.h"
#include "actors/format/parquet/page_codec.h"
#include "actors/format/parquet/page_levels.h"
#include "tests/support/parquet_bytes.h"

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

using test::ThriftWriter;

constexpr const char* kSoundPage = "";

/// A page's header before its last field, which says what kind of page it is.
ThriftWriter header_of(int type, std::int64_t plain, std::int64_t stored) {
  return ThriftWriter().number(1, type).number(2, plain).number(3, stored);
}

ThriftWriter data_part(std::int64_t values) {
  return ThriftWriter().number(1, values).number(2, 0).number(3, 3).number(4, 3);
}

ThriftWriter data_part_v2(std::int64_t values, std::int64_t definition, std::int64_t repetition) {
  ThriftWriter part;
  part.number(1, values).number(2, 0).number(3, values).number(4, 0);
  return part.number(5, definition).number(6, repetition);
}

struct OnePage {
  MemoryBudget budget{1 << 26};
  BufferPool pool{budget};
  Scratch<char> unpacked{pool};
  PageReader::Limits limits{.codec = Codec::kNone, .page_bytes = 1 << 10, .values = 10};
  Page page = {};
  std::string bytes = {};  // of the page read last

  /// Reads the first page of `content`; returns what is wrong with it.
  std::string read(const std::string& content) {
    bytes = content + std::string(64, ' ');  // a buffer's padding
    const std::span<const char> all(bytes);
    PageReader reader(all.first(content.size()), limits, unpacked);
    const bool sound = reader.next(page);
    CHECK(sound == reader.problem().empty());
    return reader.problem();
  }
  std::string read(ThriftWriter header, int field, const ThriftWriter& part,
                   const std::string& body) {
    return read(header.inner(field, part).ended() + body);
  }
};

TEST_CASE("sizes in a page's header are checked before they are used", "[actors][parquet]") {
  OnePage one;
  REQUIRE(one.read(header_of(0, 4, 4), 5, data_part(1), "abcd") == kSoundPage);
  CHECK(one.page.num_values == 1);
  CHECK(std::string(one.page.values.begin(), one.page.values.end()) == "abcd");
  CHECK(one.read(header_of(0, 5, 5), 5, data_part(1), "abcd") ==
        "a page of 5 bytes where 4 bytes are left");
  CHECK(one.read(header_of(0, 4, -1), 5, data_part(1), "abcd") ==
        "a page of -1 bytes where 4 bytes are left");
  CHECK(one.read(header_of(0, 1025, 4), 5, data_part(1), "abcd") ==
        "a page of 1025 bytes once decompressed, in a column chunk of 1024 bytes");
  CHECK(one.read(header_of(0, -1, 4), 5, data_part(1), "abcd") ==
        "a page of -1 bytes once decompressed, in a column chunk of 1024 bytes");
  CHECK(one.read(header_of(0, 3, 4), 5, data_part(1), "abcd") ==
        "an uncompressed page has two sizes");
  CHECK(one.read(header_of(0, 4, 4), 5, data_part(11), "abcd") ==
        "a page of 11 values in a column chunk of 10");
  CHECK_THAT(one.read("\x15"), Catch::StartsWith("a page's header is damaged: "));
}

TEST_CASE("a page needs the part of its header that its type says", "[actors][parquet]") {
  OnePage one;
  const std::string lacks = "a page's header lacks the part that its type needs";
  CHECK(one.read(header_of(0, 4, 4), 7, ThriftWriter().number(1, 1).number(2, 0), "abcd") == lacks);
  CHECK(one.read(header_of(2, 4, 4), 5, data_part(1), "abcd") == lacks);
  CHECK(one.read(header_of(3, 4, 4), 5, data_part(1), "abcd") == lacks);
  REQUIRE(one.read(header_of(1, 4, 4), 5, data_part(1), "abcd") ==
          kSoundPage);  // a page of an index
  CHECK(one.page.num_values == 0);
}

TEST_CASE("a page whose bytes changed is found by its checksum", "[actors][parquet]") {
  OnePage one;
  const std::int64_t sum = 0xed82cd11 - (std::int64_t{1} << 32);  // of "abcd", as 32 signed bits
  CHECK(one.read(header_of(0, 4, 4).number(4, sum), 5, data_part(1), "abcd") == kSoundPage);
  CHECK(one.read(header_of(0, 4, 4).number(4, sum), 5, data_part(1), "abce") ==
        "a page's checksum does not match its bytes");
}

TEST_CASE("the levels of a page of version 2 lie within it", "[actors][parquet]") {
  OnePage one;
  REQUIRE(one.read(header_of(3, 4, 4), 8, data_part_v2(1, 2, 1), "rdd1") == kSoundPage);
  CHECK(std::string(one.page.repetition.begin(), one.page.repetition.end()) == "r");
  CHECK(std::string(one.page.definition.begin(), one.page.definition.end()) == "dd");
  CHECK(std::string(one.page.values.begin(), one.page.values.end()) == "1");
  const std::string larger = "a page whose levels are larger than the page";
  CHECK(one.read(header_of(3, 4, 4), 8, data_part_v2(1, 3, 2), "abcd") == larger);
  CHECK(one.read(header_of(3, 4, 4), 8, data_part_v2(1, -1, 2), "abcd") == larger);
  CHECK(one.read(header_of(3, 4, 4), 8, data_part_v2(1, 2, -1), "abcd") == larger);
  CHECK(one.read(header_of(3, 4, 4), 8, data_part_v2(11, 0, 0), "abcd") ==
        "a page of 11 values in a column chunk of 10");
}

TEST_CASE("a compressed page is unpacked within the memory of the run", "[actors][parquet]") {
  OnePage one;
  one.limits.codec = Codec::kSnappy;
  CHECK(one.read(header_of(0, 0, 0), 5, data_part(1), "") == kSoundPage);
  CHECK(one.read(header_of(0, 9, 4), 5, data_part(1), "abcd") ==
        "a page's SNAPPY does not give its 9 bytes");
  one.limits.page_bytes = std::size_t{1} << 30;
  CHECK_THAT(one.read(header_of(0, 17 << 20, 4), 5, data_part(1), "abcd"),
             Catch::Contains("more than an eighth of the memory for the pipeline (16777216 bytes); "
                             "raise pipeline.memory by 72 MiB or write smaller pages"));
}

TEST_CASE("the values of a column's pages are counted, without its dictionary",
          "[actors][parquet]") {
  const PageReader::Limits limits{.codec = Codec::kNone, .page_bytes = 1 << 10, .values = 10};
  const std::string pages =
      header_of(2, 1, 1).inner(7, ThriftWriter().number(1, 9).number(2, 0)).ended() + "d" +
      header_of(0, 1, 1).inner(5, data_part(3)).ended() + "a" +
      header_of(3, 1, 1).inner(8, data_part_v2(4, 0, 0)).ended() + "b";
  CHECK(count_values(pages, limits).value() == 7);
  auto cut = count_values(std::string_view(pages).substr(0, pages.size() - 1), limits);
  REQUIRE_FALSE(cut);
  CHECK(cut.error().message == "a page of 1 bytes where 0 bytes are left");
}

TEST_CASE("a block that lies about its sizes is not decompressed", "[actors][parquet]") {
  std::string out(4, ' ');
  CHECK(decompress_page(Codec::kNone, std::string("abcd"), out));
  CHECK(out == "abcd");
  CHECK_FALSE(decompress_page(Codec::kNone, std::string("abc"), out));
  // Hadoop's frames: both sizes, highest byte first; the block is four literals.
  const auto framed = [](char plain, char packed) {
    return std::string(3, '\0') + plain + std::string(3, '\0') + packed + "\x40wxyz";
  };
  CHECK(decompress_page(Codec::kLz4, framed(4, 5), out));
  CHECK(out == "wxyz");
  CHECK_FALSE(decompress_page(Codec::kLz4, framed(5, 5), out));
  CHECK_FALSE(decompress_page(Codec::kLz4, framed(4, 6), out));
  CHECK_FALSE(decompress_page(Codec::kLz4, framed(3, 5), out));
}

/// Reads the levels of a page of version 1 that has `values` bytes for them and its values.
std::string read_levels(const std::string& values, std::size_t count, int encoding = 3) {
  MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  PageLevels levels(pool, &unpack_bits);
  Leaf leaf;
  leaf.most_definition = 2;
  Page page;
  page.num_values = count;
  page.definition_encoding = encoding;
  const std::string padded = values + std::string(64, '\0');
  page.values = std::span(padded).first(values.size());
  auto problem = levels.read(leaf, page);
  if (!problem.empty()) return problem;
  return std::to_string(levels.present()) + " of " + std::to_string(levels.count()) + ", then " +
         std::string(levels.values().begin(), levels.values().end());
}

TEST_CASE("levels before the values of a page are checked", "[actors][parquet]") {
  const std::string size("\x02\0\0\0", 4);
  CHECK(read_levels(size + "\x06\x02" + "rest", 3) == "3 of 3, then rest");
  CHECK(read_levels(size + "\x06\x01" + "rest", 3) == "0 of 3, then rest");
  CHECK(read_levels(size + "\x06\x03" + "rest", 3) == "the levels of a page are not sound");
  CHECK(read_levels(size + "\x06\x02" + "rest", 4) == "the levels of a page are not sound");
  CHECK(read_levels(std::string("\x02\0\0", 3), 3) == "the levels of a page end early");
  CHECK(read_levels(size + "\x06", 3) == "the levels of a page end early");
  CHECK(read_levels(size + "\x06\x02", 3, 4) ==
        "levels in the deprecated encoding BIT_PACKED; write the file anew");
  CHECK(read_levels(size + "\x06\x02", 3, 9) == "levels in the unknown encoding 9");
}

}  // namespace
}  // namespace forebay::parquet
