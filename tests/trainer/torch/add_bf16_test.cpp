#include <vector>

#include "trainer/torch/kernels/bf16.h"

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("values in bfloat16 are added to sums in float32", "[trainer][bf16]") {
  // The upper halves of 1.0, -2.0, 0.00390625 (2^-8), and 384.0.
  const std::vector<std::uint16_t> values = {0x3f80, 0xc000, 0x3b80, 0x43c0};
  std::vector<float> sums = {1, 1, 1, 0.25};
  add_bf16(values, sums);
  CHECK(sums == std::vector<float>{2, -1, 1.00390625, 384.25});
}

TEST_CASE("the rows of a matrix in bfloat16 are added up", "[trainer][bf16]") {
  const std::vector<std::uint16_t> rows = {0x3f80, 0xc000, 0x3f80, 0x3f80, 0x43c0, 0xc000};
  std::vector<float> sums = {10, 20};
  add_bf16(rows, sums);
  CHECK(sums == std::vector<float>{396, 17});
}
