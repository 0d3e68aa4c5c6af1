#include "actors/output/rle_writer.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/format/parquet/encoding/rle_reader.h"
#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

std::string written(const std::vector<std::uint16_t>& numbers, unsigned width) {
  std::string out;
  write_rle(numbers, width, out);
  return out;
}

TEST_CASE("eight equal numbers are a run, others are packed", "[actors][output]") {
  // Encodings.md's example: 0 to 7 in 3 bits are 88 C6 FA; one group is the header 1 << 1 | 1.
  CHECK(written({0, 1, 2, 3, 4, 5, 6, 7}, 3) == "\x03\x88\xc6\xfa");
  // A run of nine: header 9 << 1, then the value in one byte.
  CHECK(written(std::vector<std::uint16_t>(9, 5), 3) == "\x12\x05");
  // Values of nine bits take two bytes in a run.
  CHECK(written(std::vector<std::uint16_t>(8, 0x1ff), 9) == "\x10\xff\x01");
  // Seven numbers fill a group with a zero: bits 1111111 and 0.
  CHECK(written(std::vector<std::uint16_t>(7, 1), 1) == "\x03\x7f");
  CHECK(written({}, 1).empty());
}

TEST_CASE("what is written in runs and packed bits is read again", "[actors][output]") {
  Random random(11);
  for (unsigned width = 1; width <= 16; ++width) {
    std::vector<std::uint16_t> numbers;
    while (numbers.size() < 500) {
      const auto value = static_cast<std::uint16_t>(random.next() >> (64 - width));
      numbers.insert(numbers.end(), random.next() % 3 == 0 ? random.next() % 40 : 1, value);
    }
    std::string bytes = written(numbers, width);
    const std::size_t size = bytes.size();
    bytes.append(64, '\x7f');
    std::vector<std::uint32_t> again(numbers.size());
    RleReader reader({bytes.data(), size}, width);
    REQUIRE(reader.read(again));
    CHECK(std::equal(again.begin(), again.end(), numbers.begin(), numbers.end()));
  }
}

TEST_CASE("32 equal levels are a run, and others are packed", "[actors][output]") {
  LevelBits levels;
  for (int i = 0; i < 40; ++i) levels.push_back(1);
  levels.push_back(0);
  levels.push_back(1);
  std::string out;
  write_levels(levels, out);
  // A run of 40 ones: header 40 << 1. Then one group: header 1 << 1 | 1, bits 10.
  CHECK(out == "\x50\x01\x03\x02");
  levels.clear();
  for (int i = 0; i < 24; ++i) levels.push_back(1);
  out.clear();
  write_levels(levels, out);
  CHECK(out == "\x07\xff\xff\xff");  // three groups
}

TEST_CASE("levels of any count are read again", "[actors][output]") {
  Random random(12);
  for (std::size_t count = 1; count < 400; ++count) {
    std::vector<std::uint32_t> wanted;
    while (wanted.size() < count) {
      wanted.insert(wanted.end(), random.next() % 2 == 0 ? random.next() % 60 : 1,
                    static_cast<std::uint32_t>(random.next() % 2));
    }
    wanted.resize(count);
    LevelBits pushed;
    for (const std::uint32_t level : wanted) pushed.push_back(level);
    LevelBits levels;
    levels.assign(count, [&](std::size_t i) { return wanted[i]; });
    std::string bytes;
    write_levels(levels, bytes);
    std::string same;
    write_levels(pushed, same);
    REQUIRE(bytes == same);
    const std::size_t size = bytes.size();
    bytes.append(64, '\x7f');
    std::vector<std::uint32_t> again(count);
    RleReader reader({bytes.data(), size}, 1);
    REQUIRE(reader.read(again));
    REQUIRE(again == wanted);
  }
}

}  // namespace
}  // namespace forebay::parquet
