#include "actors/format/parquet/encoding/delta_reader.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "actors/format/parquet/encoding/bit_unpack.h"

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

using Numbers = std::vector<std::int64_t>;

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string zigzag(std::int64_t value) {
  return varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

struct Blocks {
  std::size_t numbers = 128;
  std::size_t miniblocks = 4;
};

std::string miniblock(const std::vector<std::uint64_t>& values, unsigned width,
                      std::size_t numbers) {
  std::string bytes(numbers / 8 * width, '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (unsigned bit = 0; bit < width; ++bit) {
      const std::size_t at = i * width + bit;
      if ((values[i] >> bit & 1) != 0) bytes[at / 8] |= static_cast<char>(1 << at % 8);
    }
  }
  return bytes;
}

std::string encoded(const Numbers& numbers, const Blocks& blocks = {}) {
  std::string bytes = varint(blocks.numbers) + varint(blocks.miniblocks) + varint(numbers.size()) +
                      zigzag(numbers.empty() ? 0 : numbers[0]);
  const std::size_t in_miniblock = blocks.numbers / blocks.miniblocks;
  for (std::size_t begin = 1; begin < numbers.size(); begin += blocks.numbers) {
    std::vector<std::uint64_t> differences;
    for (std::size_t i = begin; i < std::min(begin + blocks.numbers, numbers.size()); ++i) {
      differences.push_back(static_cast<std::uint64_t>(numbers[i]) -
                            static_cast<std::uint64_t>(numbers[i - 1]));
    }
    const auto less = [](std::uint64_t a, std::uint64_t b) {
      return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
    };
    const std::uint64_t least = *std::ranges::min_element(differences, less);
    std::string widths(blocks.miniblocks, '\0');
    std::string packed;
    for (std::size_t mini = 0; mini * in_miniblock < differences.size(); ++mini) {
      std::vector<std::uint64_t> values;
      for (std::size_t i = mini * in_miniblock;
           i < std::min((mini + 1) * in_miniblock, differences.size()); ++i) {
        values.push_back(differences[i] - least);
      }
      const unsigned width =
          static_cast<unsigned>(std::bit_width(*std::ranges::max_element(values)));
      widths[mini] = static_cast<char>(width);
      packed += miniblock(values, width, in_miniblock);
    }
    bytes += zigzag(static_cast<std::int64_t>(least)) + widths + packed;
  }
  return bytes;
}

bool read(const std::string& bytes, std::size_t count, Numbers& out) {
  const std::string padded = bytes + std::string(kUnpackSlack + 1, '\xaa');
  DeltaReader reader({padded.data(), bytes.size()});
  return reader.read(count, out) && reader.end_of_numbers() == padded.data() + bytes.size();
}

}  // namespace

TEST_CASE("differences are read as in the example of the format's specification",
          "[actors][parquet]") {
  // Encodings.md, "Example 2": 7 5 3 1 2 3 4 5, least difference -2.
  const Numbers numbers = {7, 5, 3, 1, 2, 3, 4, 5};
  const std::string bytes = encoded(numbers);
  CHECK(bytes.substr(0, 5) == std::string("\x80\x01\x04\x08\x0e", 5));
  CHECK(bytes[5] == '\x03');  // zigzag of -2
  Numbers found;
  CHECK(read(bytes, 8, found));
  CHECK(found == numbers);
}

TEST_CASE("numbers of any size survive their encoding as differences", "[actors][parquet]") {
  std::mt19937_64 random(11);
  for (const std::size_t count : {0, 1, 2, 33, 128, 129, 130, 1000}) {
    for (unsigned width = 0; width <= 64; ++width) {
      CAPTURE(count, width);
      Numbers numbers(count);
      std::ranges::generate(numbers, [&] {
        return width == 0 ? 5 : static_cast<std::int64_t>(random() >> (64 - width));
      });
      Numbers found;
      REQUIRE(read(encoded(numbers, {.numbers = 256, .miniblocks = 8}), count, found));
      REQUIRE(found == numbers);
    }
  }
}

TEST_CASE("differences that overflow wrap around", "[actors][parquet]") {
  const Numbers numbers = {std::numeric_limits<std::int64_t>::min(),
                           std::numeric_limits<std::int64_t>::max(), 0,
                           std::numeric_limits<std::int64_t>::min()};
  Numbers found;
  CHECK(read(encoded(numbers), 4, found));
  CHECK(found == numbers);
}

TEST_CASE("differences that lie about their number or their bytes are refused",
          "[actors][parquet]") {
  Numbers numbers(200);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i * i);
  const std::string bytes = encoded(numbers);
  Numbers found;
  CHECK_FALSE(read(bytes, 199, found));
  CHECK_FALSE(read(bytes, 201, found));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    REQUIRE_FALSE(read(bytes.substr(0, size), 200, found));
  }
  CHECK_FALSE(read(varint(128) + varint(0) + varint(1) + zigzag(1), 1, found));  // no miniblocks
  CHECK_FALSE(read(varint(128) + varint(3) + varint(1) + zigzag(1), 1, found));  // 128 / 3
  CHECK_FALSE(read(varint(64) + varint(4) + varint(1) + zigzag(1), 1, found));   // 16 numbers
  CHECK_FALSE(read(varint(128) + varint(4) + varint(2) + zigzag(1) + zigzag(0) + "\x41", 2, found));
}

}  // namespace forebay::parquet
