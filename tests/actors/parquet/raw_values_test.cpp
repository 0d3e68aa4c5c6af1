#include "actors/format/parquet/raw_values.h"

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "actors/format/parquet/page_reader.h"

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

using Texts = std::vector<std::string>;

constexpr const char* kSound = "";
constexpr const char* kEarly = "the values of a page end early";
constexpr const char* kNotSound = "the values of a page are not sound";

/// Reads values and keeps the bytes that the result refers to.
struct Reading {
  RawValues raw = {};
  std::string bytes = {};

  std::string read(const Leaf& leaf, Encoding encoding, const std::string& from,
                   std::size_t count) {
    bytes = from + std::string(64, '\x7f');  // a buffer's padding
    return read_values(leaf, static_cast<std::int32_t>(encoding),
                       std::span(bytes).first(from.size()), count, raw);
  }
  template <class T>
  std::vector<T> fixed(std::size_t count) const {
    std::vector<T> values(count);
    std::memcpy(values.data(), raw.fixed, count * sizeof(T));
    return values;
  }
  Texts texts() const { return {raw.texts.begin(), raw.texts.end()}; }
};

Leaf leaf_with(Physical physical, std::uint32_t bytes = 0) {
  Leaf leaf;
  leaf.type = "ITS TYPE";
  leaf.physical = physical;
  leaf.bytes = bytes;
  return leaf;
}

std::string size_before(const std::string& text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  std::string bytes(sizeof(size), '\0');
  std::memcpy(bytes.data(), &size, sizeof(size));
  return bytes + text;
}

/// One number, or two of which the second is the first and `difference`; both coded as zigzag
/// numbers below 128.
std::string coded(int first) {
  return std::string("\x80\x01\x04\x01", 4) + static_cast<char>(first);
}
std::string coded(int first, int difference) {
  return std::string("\x80\x01\x04\x02", 4) + static_cast<char>(first) +
         static_cast<char>(difference) + std::string(4, '\0');
}

TEST_CASE("booleans are bits, or runs behind their size", "[actors][parquet]") {
  const Leaf leaf = leaf_with(Physical::kBoolean);
  Reading reading;
  REQUIRE(reading.read(leaf, Encoding::kPlain, "\x05\x01", 9) == kSound);
  CHECK(reading.fixed<std::uint8_t>(9) == std::vector<std::uint8_t>{1, 0, 1, 0, 0, 0, 0, 0, 1});
  CHECK(reading.read(leaf, Encoding::kPlain, "\x05\x01", 17) == kEarly);
  REQUIRE(reading.read(leaf, Encoding::kRle, size_before("\x06\x01"), 3) == kSound);
  CHECK(reading.fixed<std::uint8_t>(3) == std::vector<std::uint8_t>{1, 1, 1});
  CHECK(reading.read(leaf, Encoding::kRle, size_before("\x06\x01"), 4) == kNotSound);
  CHECK(reading.read(leaf, Encoding::kRle, "\x01", 1) == kEarly);
  CHECK(reading.read(leaf, Encoding::kRle, size_before("\x06\x01").substr(0, 5), 3) == kEarly);
}

TEST_CASE("values of fixed size are refused where their bytes end", "[actors][parquet]") {
  Reading reading;
  const std::string two("\x01\0\0\0\x02\0\0\0", 8);
  REQUIRE(reading.read(leaf_with(Physical::kInt32), Encoding::kPlain, two, 2) == kSound);
  CHECK(reading.fixed<std::int32_t>(2) == std::vector<std::int32_t>{1, 2});
  CHECK(reading.read(leaf_with(Physical::kInt32), Encoding::kPlain, two, 3) == kEarly);
  CHECK(reading.read(leaf_with(Physical::kFixedBytes), Encoding::kPlain, two, 1) ==
        "values of no size");
  const std::string split("\x01\x02\0\0\0\0\0\0", 8);
  REQUIRE(reading.read(leaf_with(Physical::kInt32), Encoding::kByteStreamSplit, split, 2) ==
          kSound);
  CHECK(reading.fixed<std::int32_t>(2) == std::vector<std::int32_t>{1, 2});
  CHECK(reading.read(leaf_with(Physical::kInt32), Encoding::kByteStreamSplit, split, 3) == kEarly);
  CHECK(reading.read(leaf_with(Physical::kFixedBytes), Encoding::kByteStreamSplit, split, 1) ==
        "values of no size");
}

TEST_CASE("differences become integers of both sizes", "[actors][parquet]") {
  Reading reading;
  const Encoding delta = Encoding::kDeltaBinaryPacked;
  REQUIRE(reading.read(leaf_with(Physical::kInt64), delta, coded(10, 3), 2) ==
          kSound);  // 5, and -2
  CHECK(reading.fixed<std::int64_t>(2) == std::vector<std::int64_t>{5, 3});
  REQUIRE(reading.read(leaf_with(Physical::kInt32), delta, coded(10, 3), 2) == kSound);
  CHECK(reading.fixed<std::int32_t>(2) == std::vector<std::int32_t>{5, 3});
  CHECK(reading.read(leaf_with(Physical::kInt64), delta, coded(10, 3), 3) == kNotSound);
  CHECK(reading.read(leaf_with(Physical::kInt64), delta, coded(10, 3).substr(0, 4), 2) ==
        kNotSound);
  CHECK(reading.read(leaf_with(Physical::kInt64), delta, coded(10, 3).substr(0, 7), 2) ==
        kNotSound);
}

TEST_CASE("packed differences are refused where they are too wide or end early",
          "[actors][parquet]") {
  const Leaf leaf = leaf_with(Physical::kInt64);
  const Encoding delta = Encoding::kDeltaBinaryPacked;
  const std::string start("\x80\x01\x04\x02\x0a\x03", 6);  // 5, differences from -2 on
  const auto with_width = [&](char width, std::size_t bytes) {
    return start + width + std::string(3, '\0') + std::string(bytes, '\x01');
  };
  Reading reading;
  REQUIRE(reading.read(leaf, delta, with_width(8, 32), 2) == kSound);
  CHECK(reading.fixed<std::int64_t>(2) == std::vector<std::int64_t>{5, 4});
  CHECK(reading.read(leaf, delta, with_width(8, 31), 2) == kNotSound);
  REQUIRE(reading.read(leaf, delta, with_width(64, 256), 2) == kSound);
  CHECK(reading.read(leaf, delta, with_width(65, 260), 2) == kNotSound);
}

TEST_CASE("texts end where their page does", "[actors][parquet]") {
  const Leaf leaf = leaf_with(Physical::kByteArray);
  Reading reading;
  const std::string two = size_before("ab") + size_before("");
  REQUIRE(reading.read(leaf, Encoding::kPlain, two, 2) == kSound);
  CHECK(reading.texts() == Texts{"ab", ""});
  CHECK(reading.read(leaf, Encoding::kPlain, two, 3) == kEarly);
  CHECK(reading.read(leaf, Encoding::kPlain, size_before("abcd") + "xyz", 2) == kEarly);
  CHECK(reading.read(leaf, Encoding::kPlain, size_before("abcd").substr(0, 7), 1) == kEarly);

  const Encoding lengths = Encoding::kDeltaLengthByteArray;
  REQUIRE(reading.read(leaf, lengths, coded(4, 1) + "abc", 2) == kSound);  // 2, and 1 less
  CHECK(reading.texts() == Texts{"ab", "c"});
  CHECK(reading.read(leaf, lengths, coded(4, 1) + "ab", 2) == kEarly);
  CHECK(reading.read(leaf, lengths, coded(1), 1) == kEarly);  // a length of -1
  CHECK(reading.read(leaf, lengths, "\x80", 1) == kNotSound);
}

TEST_CASE("texts begin like the one before, as far as there is one", "[actors][parquet]") {
  const Leaf leaf = leaf_with(Physical::kByteArray);
  const Encoding prefixes = Encoding::kDeltaByteArray;
  Reading reading;
  const std::string two = coded(0, 4) + coded(6, 3) + "abcd";  // 0 and 2, 3 and 1
  REQUIRE(reading.read(leaf, prefixes, two, 2) == kSound);
  CHECK(reading.texts() == Texts{"abc", "abd"});
  CHECK(reading.read(leaf, prefixes, coded(2) + coded(2) + "a", 1) == kNotSound);  // one of none
  CHECK(reading.read(leaf, prefixes, coded(1) + coded(2) + "a", 1) == kNotSound);  // -1 of none
  CHECK(reading.read(leaf, prefixes, "\x80", 1) == kNotSound);
  CHECK(reading.read(leaf, prefixes, coded(0) + coded(2), 1) == kEarly);
  REQUIRE(reading.read(leaf_with(Physical::kFixedBytes, 3), prefixes, two, 2) == kSound);
  CHECK(std::string(reading.raw.fixed, 6) == "abcabd");
  CHECK(reading.read(leaf_with(Physical::kFixedBytes, 2), prefixes, two, 2) ==
        "a value has another length than its column");
  CHECK(reading.read(leaf_with(Physical::kFixedBytes, 3), prefixes, "\x80", 1) == kNotSound);
}

TEST_CASE("texts that share beginnings may not grow without bound", "[actors][parquet]") {
  // 129 texts, each with 16 KiB more than the one before: 132 MiB of 2.
  const std::string start("\x80\x01\x04\x81\x01", 5);
  const std::string step("\x80\x80\x02", 3);
  const std::string zeros(5, '\0');
  const std::string prefixes = start + '\0' + step + zeros.substr(1);
  const std::string lengths = start + step + zeros;
  Reading reading;
  CHECK(reading.read(leaf_with(Physical::kByteArray), Encoding::kDeltaByteArray,
                     prefixes + lengths + std::string(129 * 16'384, 'a'),
                     129) == "the values of a page are larger than any page");
}

TEST_CASE("an encoding that does not fit its type is refused", "[actors][parquet]") {
  Reading reading;
  const std::string bytes(64, '\0');
  for (const auto& [physical, encoding] :
       {std::pair{Physical::kInt32, Encoding::kRle},
        std::pair{Physical::kFloat, Encoding::kDeltaBinaryPacked},
        std::pair{Physical::kInt32, Encoding::kDeltaLengthByteArray},
        std::pair{Physical::kInt32, Encoding::kDeltaByteArray},
        std::pair{Physical::kByteArray, Encoding::kByteStreamSplit},
        std::pair{Physical::kBoolean, Encoding::kByteStreamSplit},
        std::pair{Physical::kInt32, Encoding::kBitPacked}}) {
    CHECK(reading.read(leaf_with(physical), encoding, bytes, 1) ==
          "encoding " + std::to_string(static_cast<int>(encoding)) +
              " does not fit values of type ITS TYPE");
  }
  const Leaf leaf = leaf_with(Physical::kInt32);
  CHECK(read_values(leaf, 10, bytes, 1, reading.raw) == "an unknown encoding");
  CHECK(read_values(leaf, -1, bytes, 1, reading.raw) == "an unknown encoding");
}

}  // namespace
}  // namespace forebay::parquet
