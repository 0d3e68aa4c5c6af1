#include "actors/source/index/file_index.h"

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

FileIndex sample(std::uint64_t seed) {
  Random random(seed);
  FileIndex index{.path = "/data/a.tsv.gz",
                  .stamp = {.bytes = 100'000, .version = -5},
                  .codec = Codec::kGzip,
                  .settings = {.high = 1, .low = 2},
                  .agreement = {.high = 5, .low = 6},
                  .bytes = 1'000'000,
                  .rows = 0,
                  .content = {.high = 3, .low = 4},
                  .slot_bytes = 512,
                  .blocks = {},
                  .points = {}};
  std::uint64_t line = 1;
  for (std::uint64_t slot = random.below(3); slot < 1900; slot += 1 + random.below(4)) {
    const std::uint32_t rows = 1 + random.below(9);
    // Leaves at least the bytes that the block's rows and lines need before the next block.
    index.blocks.push_back({.offset = slot * 512 + random.below(256), .line = line, .rows = rows});
    line += rows + random.below(3);
    index.rows += rows;
  }
  for (std::uint64_t i = 1; i < 8; ++i) {
    index.points.push_back({.out = i * 100'000,
                            .in = i * 10'000,
                            .kind = RestartPoint::Kind::kInside,
                            .bits = static_cast<std::uint8_t>(i),
                            .window_at = i * 9000,
                            .window_bytes = 9000,
                            .window_hash = random.next()});
  }
  return index;
}

FileIndex sample_of_units() {
  FileIndex index{.path = "/data/a.bin",
                  .stamp = {.bytes = 100'000, .version = 7},
                  .settings = {.high = 1, .low = 2},
                  .agreement = {.high = 5, .low = 6},
                  .bytes = 100'000,
                  .rows = 1206,
                  .content = {.high = 3, .low = 4},
                  .slot_bytes = FileIndex::kNoSlots,
                  .blocks = {},
                  .points = {}};
  index.units = {{.bytes = 70'000, .first_row = 0, .rows = 1000},
                 {.bytes = 1, .first_row = 1000, .rows = 200},
                 {.bytes = 0, .first_row = 1200, .rows = 6}};
  return index;
}

TEST_CASE("an index reads back as it was written", "[actors][source]") {
  CHECK((parse_index(encode_index(sample_of_units())).value() == sample_of_units()));
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const FileIndex index = sample(seed);
    auto read = parse_index(encode_index(index));
    REQUIRE(read);
    CHECK((*read == index));
  }
  const FileIndex empty;
  CHECK((parse_index(encode_index(empty)).value() == empty));
}

TEST_CASE("an index with any other byte is refused", "[actors][source]") {
  const std::vector<char> bytes = encode_index(sample(1));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::vector<char> damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 64);
    REQUIRE_FALSE(parse_index(damaged));
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, bytes.size() - 1}) {
    CHECK_FALSE(parse_index(std::span(bytes).first(size)));
  }
  std::vector<char> longer = bytes;
  longer.push_back(0);
  CHECK_FALSE(parse_index(longer));
}

TEST_CASE("an index that contradicts itself is refused, even with a right digest",
          "[actors][source]") {
  FileIndex index = sample(2);
  SECTION("rows that do not add up") { ++index.rows; }
  SECTION("a block past the end") { index.bytes = index.blocks.back().offset; }
  SECTION("a block without rows") { index.blocks[3].rows = 0; }
  SECTION("two blocks of one slot") { index.blocks[3].offset = index.blocks[2].offset + 1; }
  SECTION("a slot that is no power of two") { index.slot_bytes = 500; }
  SECTION("a slot too coarse") { index.slot_bytes = 2 * slot_rule::kCoarsest; }
  SECTION("a file too large") { index.bytes = std::uint64_t{1} << 41; }
  SECTION("an unknown codec") { index.codec = static_cast<Codec>(3); }
  SECTION("a point past the end") { index.points.back().out = index.bytes + 1; }
  SECTION("a point past the stored end") { index.points.back().in = index.stamp.bytes + 1; }
  SECTION("a window too large") { index.points[1].window_bytes = 1 << 20; }
  SECTION("points in descending order") { index.points[2].out = index.points[1].out; }
  SECTION("more rows than bytes") {
    index.blocks[2].offset = index.blocks[3].offset - index.blocks[2].rows + 1;
  }
  SECTION("more lines than bytes") { index.blocks[0].line = index.blocks[0].offset + 2; }
  SECTION("more rows than the file has bytes for") {
    index.bytes = index.blocks.back().offset + index.blocks.back().rows - 1;
    index.points.clear();
  }
  SECTION("a plain file of another size") {
    index.codec = Codec::kPlain;
    index.points.clear();
  }
  SECTION("a point inside a frame of zstd") { index.codec = Codec::kZstd; }
  SECTION("a frame that begins inside a byte") {
    index.points[1].kind = RestartPoint::Kind::kFrame;
    index.points[1].window_bytes = 0;
  }
  SECTION("a frame with a window") {
    index.points[1].kind = RestartPoint::Kind::kFrame;
    index.points[1].bits = 0;
  }
  CHECK_FALSE(parse_index(encode_index(index)));
}

TEST_CASE("an index of units that contradicts itself is refused", "[actors][source]") {
  FileIndex index = sample_of_units();
  SECTION("rows that do not add up") { ++index.rows; }
  SECTION("a unit without rows") {
    index.rows -= index.units[1].rows;
    index.units[1].rows = 0;
  }
  SECTION("a unit too large") { index.units[1].bytes = std::uint64_t{1} << 41; }
  SECTION("a compressed file") { index.codec = Codec::kGzip; }
  SECTION("a checksum of text") { index.check = 1; }
  SECTION("blocks of text") { index.blocks = sample(1).blocks; }
  SECTION("a slot") { index.slot_bytes = 512; }
  SECTION("a file too large") { index.bytes = index.stamp.bytes = std::uint64_t{1} << 41; }
  CHECK_FALSE(parse_index(encode_index(index)));
}

TEST_CASE("units are never merged, and their bytes are those that are loaded", "[actors][source]") {
  FileIndex index = sample_of_units();
  index.coarsen(slot_rule::kCoarsest);
  CHECK((index == sample_of_units()));
  CHECK(index.num_blocks() == 3);
  CHECK(index.loaded_bytes() == 70'001);
  CHECK(sample(1).loaded_bytes() == 1'000'000);
  CHECK(sample(1).num_blocks() == sample(1).blocks.size());
}

TEST_CASE("an index of another version is not reported as damaged", "[actors][source]") {
  std::vector<char> bytes = encode_index(sample(3));
  CHECK(check_index_head(bytes));
  bytes[7] = '2';
  CHECK(parse_index(bytes).error().code == Code::kInvalid);
  bytes[0] = 'x';
  CHECK(parse_index(bytes).error().code == Code::kCorrupt);
}

TEST_CASE("the longest span counts the file's start and end", "[actors][source]") {
  FileIndex index;
  index.bytes = 1000;
  CHECK(index.longest_span() == 1000);
  index.points = {{.out = 300, .in = 1}, {.out = 500, .in = 2}};
  CHECK(index.longest_span() == 500);
  index.bytes = 600;
  CHECK(index.longest_span() == 300);
}

}  // namespace
}  // namespace forebay
