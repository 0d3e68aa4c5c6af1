#include "trainer/torch/kernels/factorisation.h"

#include <vector>

#include "tests/support/catch.h"

using namespace forebay;

namespace {

// Three vectors of two values, each with one more value after it that is not read.
constexpr Factorisation kThree{.vectors = 3, .dim = 2, .stride = 3};
const std::vector<float> kVectors = {1, 2, 99, 3, 4, 99, 5, 6, 99};

}  // namespace

TEST_CASE("pairs of vectors are multiplied and added up", "[trainer][factorisation]") {
  // (1,2)·(3,4) + (1,2)·(5,6) + (3,4)·(5,6) = 11 + 17 + 39.
  std::vector<float> out = {1000};
  kThree.forward(kVectors.data(), 1, out.data());
  CHECK(out[0] == 1067);
}

TEST_CASE("a vector's gradient is the sum of the others", "[trainer][factorisation]") {
  // Gradient of the first: 2·((3,4) + (5,6)), added to the present values; the values after it
  // stay.
  std::vector<float> gradient(18, 1);
  const std::vector<float> out_gradient = {0, 2};
  std::vector<float> two_rows(kVectors);
  two_rows.insert(two_rows.end(), kVectors.begin(), kVectors.end());
  kThree.backward(two_rows.data(), out_gradient.data(), 2, gradient.data(), 6);
  CHECK(gradient == std::vector<float>{1, 1, 1, 17, 21, 1, 1, 1, 1, 13, 17, 1, 1, 1, 1, 9, 13, 1});
}

TEST_CASE("one vector has no pairs", "[trainer][factorisation]") {
  const Factorisation one{.vectors = 1, .dim = 2, .stride = 2};
  std::vector<float> out = {3};
  one.forward(kVectors.data(), 1, out.data());
  CHECK(out[0] == 3);
}
