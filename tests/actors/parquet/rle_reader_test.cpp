#include "actors/format/parquet/encoding/rle_reader.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "actors/format/parquet/encoding/bit_unpack.h"
#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

using Indices = std::vector<std::uint32_t>;

/// Bytes with the slack that readers may look at; the slack is not zero, so that its use shows.
struct Padded {
  explicit Padded(const std::string& bytes) : text(bytes + std::string(kUnpackSlack + 1, '\xaa')) {}
  std::span<const char> bytes() const { return {text.data(), text.size() - kUnpackSlack - 1}; }
  std::string text;
};

std::string varint_of(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string packed(const Indices& numbers, unsigned width) {
  std::string bytes((numbers.size() + 7) / 8 * width, '\0');
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (unsigned bit = 0; bit < width; ++bit) {
      const std::size_t at = i * width + bit;
      if ((numbers[i] >> bit & 1) != 0) bytes[at / 8] |= static_cast<char>(1 << at % 8);
    }
  }
  return varint_of((numbers.size() + 7) / 8 << 1 | 1) + bytes;
}

std::string repeated(std::uint32_t value, std::size_t count, unsigned width) {
  std::string bytes = varint_of(count << 1);
  for (unsigned byte = 0; byte < (width + 7) / 8; ++byte)
    bytes += static_cast<char>(value >> 8 * byte);
  return bytes;
}

Indices read(const std::string& bytes, unsigned width, std::size_t count) {
  const Padded padded(bytes);
  RleReader reader(padded.bytes(), width);
  Indices numbers(count);
  return reader.read(numbers) ? numbers : Indices();
}

}  // namespace

TEST_CASE("packed bits are read as in the example of the format's specification",
          "[actors][parquet]") {
  // Encodings.md: 0 to 7 in three bits each are 10001000 11000110 11111010.
  const std::string bytes = {'\x03', '\x88', '\xc6', '\xfa'};
  CHECK(read(bytes, 3, 8) == Indices{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("runs and packed numbers of every width are read in pieces of any size",
          "[actors][parquet]") {
  std::mt19937 random(7);
  for (unsigned width = 0; width <= 32; ++width) {
    CAPTURE(width);
    const std::uint32_t most = width == 32 ? ~0U : (1U << width) - 1;
    Indices wanted;
    std::string bytes;
    for (int run = 0; run < 20; ++run) {
      const std::size_t count = 1 + random() % 40;
      if (random() % 2 == 0) {
        const std::uint32_t value = static_cast<std::uint32_t>(random()) & most;
        wanted.insert(wanted.end(), count, value);
        bytes += repeated(value, count, width);
      } else {
        Indices group(count * 8);
        std::ranges::generate(group, [&] { return static_cast<std::uint32_t>(random()) & most; });
        wanted.insert(wanted.end(), group.begin(), group.end());
        bytes += packed(group, width);
      }
    }
    const Padded padded(bytes);
    RleReader reader(padded.bytes(), width);
    Indices found(wanted.size());
    for (std::size_t at = 0; at < found.size();) {
      const std::size_t count = std::min<std::size_t>(1 + random() % 50, found.size() - at);
      REQUIRE(reader.read(std::span(found).subspan(at, count)));
      at += count;
    }
    CHECK(found == wanted);
    Indices more(1);
    CHECK_FALSE(reader.read(more));
  }
}

TEST_CASE("numbers of one bit are read as bytes in pieces of any size", "[actors][parquet]") {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    std::string bytes;
    for (int run = 0; run < 6; ++run) {
      if (random.below(2) == 0) {
        bytes += static_cast<char>((1 + random.below(40)) << 1);
        bytes += static_cast<char>(random.below(2));
      } else {
        const std::size_t groups = 1 + random.below(5);
        bytes += static_cast<char>(groups << 1 | 1);
        for (std::size_t i = 0; i < groups; ++i) bytes += static_cast<char>(random.below(256));
      }
    }
    const Padded padded(bytes);
    RleReader numbers(padded.bytes(), 1);
    RleReader bits(padded.bytes(), 1);
    while (true) {
      const std::size_t count = 1 + random.below(30);
      std::vector<std::uint32_t> expected(count);
      std::vector<std::uint8_t> read(count);
      const bool there = numbers.read(expected);
      REQUIRE(bits.read_bits(read) == there);
      if (!there) break;
      REQUIRE(std::ranges::equal(expected, read));
    }
  }
}

TEST_CASE("a last group whose unused bytes were cut off is read", "[actors][parquet]") {
  std::string bytes = packed({1, 2, 3, 4, 5}, 16);
  bytes.resize(1 + 10);
  CHECK(read(bytes, 16, 5) == Indices{1, 2, 3, 4, 5});
  CHECK(read(bytes, 16, 6).empty());
}

TEST_CASE("a run of equal numbers is skipped only as far as it goes", "[actors][parquet]") {
  const Padded padded(repeated(1, 10, 1) + repeated(0, 2, 1));
  RleReader reader(padded.bytes(), 1);
  CHECK_FALSE(reader.skip_equal(1, 11));
  CHECK_FALSE(reader.skip_equal(0, 1));
  CHECK(reader.skip_equal(1, 9));
  Indices rest(3);
  CHECK(reader.read(rest));
  CHECK(rest == Indices{1, 0, 0});
  CHECK_FALSE(reader.skip_equal(0, 1));
}

TEST_CASE("runs that lie about their bytes are refused", "[actors][parquet]") {
  CHECK(read("", 1, 1).empty());
  CHECK(read("\x80", 1, 1).empty());                              // the header ends early
  CHECK(read("\x10", 8, 1).empty());                              // the value is missing
  CHECK(read(std::string("\x10\x04", 2), 2, 1).empty());          // 4 has more than two bits
  CHECK(read(std::string("\x03\x01", 2), 8, 2).empty());          // one of eight numbers is there
  CHECK(read(std::string(11, '\xff') + '\x01', 1, 1).empty());    // a header of more than 64 bits
  CHECK(read(std::string("\x00\x01\x00\x01", 4), 1, 1).empty());  // only empty runs
}

}  // namespace forebay::parquet
