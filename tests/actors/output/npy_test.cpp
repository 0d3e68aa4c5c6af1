#include "actors/output/npy.h"

#include <cstring>
#include <string>
#include <vector>

#include "tests/actors/output/made_batch.h"

#include "tests/support/catch.h"

namespace forebay::test {
namespace {

std::vector<std::int32_t> numbers_of(const std::string& bytes) {
  std::vector<std::int32_t> numbers(bytes.size() / sizeof(std::int32_t));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

TEST_CASE("an npy header has the bytes that numpy.save writes", "[actors][output]") {
  // numpy.save of an array of 195841983 by 13 floats: 10 bytes, 118 of text.
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (195841983, 13), }";
  expected += std::string(127 - expected.size(), ' ') + '\n';
  CHECK(npy::header("<f4", 195841983, 13) == expected);
  CHECK(npy::header("<i4", 0, 1).size() == npy::kHeaderBytes);
  CHECK(npy::header("<i4", ~std::uint64_t{0}, 100000).size() == npy::kHeaderBytes);
}

TEST_CASE("rows become int32 labels, float32 values and int32 ids that wrap", "[actors][output]") {
  const MadeBatch made({1, 0, 1}, {{1.5F, -2, 0}, {4, 5, 6}},
                       {{{7}, {}, {0xffffffff}}, {{1}, {2}, {(std::int64_t{1} << 32) + 3}}});
  const auto rows = npy::encode(made.batch, {{"a", "b"}, {{"c"}, {"d"}}});
  REQUIRE(rows);
  CHECK(numbers_of(rows->labels) == std::vector{1, 0, 1});
  // Row by row: 7 and 1, blank and 2, 2^32 - 1 and 2^32 + 3.
  CHECK(numbers_of(rows->sparse) == std::vector{7, 1, 0, 2, -1, 3});
  const std::vector<float> dense{1.5F, 4, -2, 5, 0, 6};
  REQUIRE(npy::dense_bytes(made.batch).size() == 24);
  CHECK(std::memcmp(npy::dense_bytes(made.batch).data(), dense.data(), 24) == 0);
}

TEST_CASE("npy refuses a row with two ids and says what to do", "[actors][output]") {
  const MadeBatch made({1}, {}, {{{7}}, {{1, 2}}});
  const auto rows = npy::encode(made.batch, {{}, {{"c"}, {"d"}}});
  REQUIRE_FALSE(rows);
  CHECK(rows.error().message ==
        "column d: a row has more than one id, and npy holds one; keep one by an operator such as "
        "first_x, or convert to parquet");
}

}  // namespace
}  // namespace forebay::test
