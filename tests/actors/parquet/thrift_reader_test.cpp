#include "actors/format/parquet/thrift_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "actors/format/parquet/thrift_structs.h"

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

struct Inner {
  std::int32_t number = 0;
  std::optional<bool> flag;
  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.number), thrift_field(2, self.flag));
  }
};

struct Outer {
  std::int64_t wide = 0;
  std::string text;
  std::vector<Inner> inners;
  std::optional<Inner> last;
  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.wide), thrift_field(2, self.text),
                           thrift_field(3, self.inners), thrift_field(20, self.last));
  }
};

/// What the reader says of the bytes: "" when they are sound.
template <class T>
std::string problem_of(const std::string& bytes, T& out) {
  ThriftReader reader(bytes);
  const bool sound = reader.read(out);
  CHECK(sound == reader.problem().empty());
  return reader.problem();
}

// Field 1: i64 -3; 2: "ab"; 3: two Inner {7, true}, {-1}; 20: Inner {2, false}.
const std::string kSoundStruct = std::string("\x16\x05", 2) +
                                 std::string(
                                     "\x18\x02"
                                     "ab",
                                     4) +
                                 std::string("\x19\x2c", 2) + std::string("\x15\x0e\x11\x00", 4) +
                                 std::string("\x15\x01\x00", 3) +
                                 std::string("\x0c\x28\x15\x04\x12\x00", 6) +
                                 std::string("\x00", 1);

}  // namespace

TEST_CASE("a struct of Thrift's compact protocol is read by its list of fields",
          "[actors][parquet]") {
  Outer outer;
  CHECK(problem_of(kSoundStruct, outer).empty());
  CHECK(outer.wide == -3);
  CHECK(outer.text == "ab");
  REQUIRE(outer.inners.size() == 2);
  CHECK(outer.inners[0].number == 7);
  CHECK(outer.inners[0].flag == true);
  CHECK(outer.inners[1].number == -1);
  CHECK_FALSE(outer.inners[1].flag.has_value());
  REQUIRE(outer.last.has_value());
  CHECK(outer.last->flag == false);
}

TEST_CASE("fields that a struct does not list are skipped, whatever they hold",
          "[actors][parquet]") {
  // 5: double; 6: map of i32 to "x"; 7: list of bools; 8: a struct with a list; 1: 4.
  const std::string bytes =
      std::string("\x57", 1) + std::string(8, '\x01') + std::string("\x1b\x01\x58\x02\x01x", 6) +
      std::string("\x19\x21\x01\x02", 4) + std::string("\x1c\x19\x15\x02\x00", 5) +
      std::string("\x05\x02\x08\x00", 4);
  Inner inner;
  CHECK(problem_of(bytes, inner).empty());
  CHECK(inner.number == 4);
}

TEST_CASE("every truncation of a struct is refused", "[actors][parquet]") {
  for (std::size_t size = 0; size < kSoundStruct.size(); ++size) {
    CAPTURE(size);
    Outer outer;
    ThriftReader reader({kSoundStruct.data(), size});
    CHECK_FALSE(reader.read(outer));
    CHECK(reader.ended_early());
  }
}

TEST_CASE("what is not a struct of the listed fields is refused with a reason",
          "[actors][parquet]") {
  Inner inner;
  CHECK(problem_of(std::string(1, '\0'), inner) == "field 1 is missing");
  CHECK(problem_of(std::string("\x16\x02\x00", 3), inner) == "a 32-bit integer was expected");
  CHECK(problem_of(std::string("\x15\x80\x80\x80\x80\x20\x00", 7), inner) ==
        "a number is too large for its field");
  CHECK(problem_of("\x1f", inner) == "an unknown type of field");
  Outer outer;
  CHECK(problem_of("\x18\xff\xff\xff\xff\x0f", outer) == "a 64-bit integer was expected");
  CHECK(problem_of("\x28\xff\xff\xff\xff\x0f", outer) == "ends early");
  CHECK(problem_of("\x39\xfc\xff\xff\xff\xff\x0f", outer) == "ends early");
  // Structs in structs, without an end.
  CHECK(problem_of(std::string(1000, '\x5c'), inner) == "too many structs in one another");
}

}  // namespace forebay::parquet
