#include "actors/output/thrift_writer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

struct WrittenInner {
  std::int32_t number = 0;
  std::optional<bool> flag;
  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.number), thrift_field(2, self.flag));
  }
};

struct WrittenOuter {
  std::int64_t wide = 0;
  std::string text;
  std::vector<WrittenInner> inners;
  std::optional<WrittenInner> last;
  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.wide), thrift_field(2, self.text),
                           thrift_field(3, self.inners), thrift_field(20, self.last));
  }
};

TEST_CASE("a struct is written in Thrift's compact protocol", "[actors][output]") {
  // Field 1: i64 -3; 2: "ab"; 3: two inner {7, true}, {-1}; 20, 17 further on: {2, false}.
  const std::string expected(
      "\x16\x05\x18\x02"
      "ab\x19\x2c\x15\x0e\x11\x00\x15\x01\x00\x0c\x28\x15\x04\x12\x00\x00",
      22);
  std::string out;
  ThriftWriter(out).write(WrittenOuter{-3, "ab", {{7, true}, {-1, {}}}, WrittenInner{2, false}});
  CHECK(out == expected);
  WrittenOuter again;
  ThriftReader reader(out);
  REQUIRE(reader.read(again));
  CHECK(again.inners.size() == 2);
}

TEST_CASE("a long list and a large number are written whole", "[actors][output]") {
  WrittenOuter many{std::int64_t{-1} << 62, std::string(200, 'x'), {}, {}};
  many.inners.resize(300, {-12345678, false});
  std::string out;
  ThriftWriter(out).write(many);
  WrittenOuter again;
  ThriftReader reader(out);
  REQUIRE(reader.read(again));
  CHECK(again.wide == many.wide);
  CHECK(again.text == many.text);
  REQUIRE(again.inners.size() == 300);
  CHECK(again.inners.back().number == -12345678);
  CHECK_FALSE(again.last);
}

}  // namespace
}  // namespace forebay::parquet
