#include "trainer/torch/kernels/interaction.h"

#include <vector>

#include "core/base/random.h"
#include "core/base/sanitizers.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

std::vector<float> some_values(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(2 * random.uniform() - 1);
  return values;
}

}  // namespace

TEST_CASE("an interaction is the first vector and each pair's dot product",
          "[trainer][interaction]") {
  // Vectors (1,2), (3,4), (5,6): (1,0) 3+8, (2,0) 5+12, (2,1) 15+24.
  const Interaction interaction{.vectors = 3, .dim = 2};
  const std::vector<float> z = {1, 2, 3, 4, 5, 6};
  std::vector<float> out(interaction.width() + Interaction::kSlack);
  interaction.forward(z.data(), 1, out.data());
  out.resize(interaction.width());
  CHECK(out == std::vector<float>{1, 2, 11, 17, 39});
}

TEST_CASE("an interaction's gradient is that of each dot product", "[trainer][interaction]") {
  // With gradients (1,1) of the first vector and 1, 10, 100 of the pairs:
  // d0 = (1,1) + 1·v1 + 10·v2, d1 = 1·v0 + 100·v2, d2 = 10·v0 + 100·v1.
  const Interaction interaction{.vectors = 3, .dim = 2};
  const std::vector<float> z = {1, 2, 3, 4, 5, 6};
  const std::vector<float> gradient = {1, 1, 1, 10, 100};
  std::vector<float> bottom(2), pooled(4);
  interaction.backward(z.data(), gradient.data(), 1, bottom.data(), pooled.data(), 2);
  CHECK(bottom == std::vector<float>{54, 65});
  CHECK(pooled == std::vector<float>{501, 602, 310, 420});
}

TEST_CASE("interactions of any size agree with the plain formula", "[trainer][interaction]") {
  const std::size_t dim = GENERATE(1, 7, 8, 16, 20, 32, 61);
  const std::size_t vectors = GENERATE(1, 2, 9, 17, 27, 34);
  const bool in_avx512 = GENERATE(false, true) && machine_has_avx512();
  const std::size_t rows = 3;
  INFO(vectors << " vectors of " << dim << (in_avx512 ? ", in registers of 512 bits" : ""));
  const Interaction interaction{vectors, dim, in_avx512};
  const auto z = some_values(rows * vectors * dim, 1);
  const auto gradient = some_values(rows * interaction.width(), 2);
  std::vector<float> out(rows * interaction.width() + Interaction::kSlack);
  interaction.forward(z.data(), rows, out.data());
  std::vector<float> bottom(rows * dim), pooled((vectors - 1) * rows * dim + 1);
  interaction.backward(z.data(), gradient.data(), rows, bottom.data(), pooled.data(), rows * dim);

  for (std::size_t row = 0; row < rows; ++row) {
    const float* v = z.data() + row * vectors * dim;
    const float* g = gradient.data() + row * interaction.width();
    std::vector<double> dz(vectors * dim, 0);
    std::size_t at = row * interaction.width();
    for (std::size_t d = 0; d < dim; ++d) {
      REQUIRE(out[at++] == v[d]);
      dz[d] = *g++;
    }
    for (std::size_t i = 1; i < vectors; ++i) {
      for (std::size_t j = 0; j < i; ++j, ++g) {
        double dot = 0;
        for (std::size_t d = 0; d < dim; ++d) {
          dot += double{v[i * dim + d]} * v[j * dim + d];
          dz[i * dim + d] += double{*g} * v[j * dim + d];
          dz[j * dim + d] += double{*g} * v[i * dim + d];
        }
        REQUIRE(out[at++] == Approx(dot).margin(1e-5));
      }
    }
    for (std::size_t d = 0; d < dim; ++d) {
      REQUIRE(bottom[row * dim + d] == Approx(dz[d]).margin(1e-5));
      for (std::size_t i = 1; i < vectors; ++i) {
        REQUIRE(pooled[(i - 1) * rows * dim + row * dim + d] ==
                Approx(dz[i * dim + d]).margin(1e-5));
      }
    }
  }
}

TEST_CASE("the width of registers changes no bit of an interaction", "[trainer][interaction]") {
  // The compiler fuses other products where it also checks each access.
  if (FOREBAY_ADDRESS_SANITIZER) return;
  const std::size_t dim = GENERATE(5, 16, 64);
  const std::size_t vectors = GENERATE(3, 20, 33);
  const std::size_t rows = 2;
  const auto z = some_values(rows * vectors * dim, 3);
  const auto made_by = [&](bool in_avx512) {
    const Interaction interaction{vectors, dim, in_avx512};
    const auto gradient = some_values(rows * interaction.width(), 4);
    std::vector<float> out(rows * interaction.width() + Interaction::kSlack);
    std::vector<float> bottom(rows * dim), pooled((vectors - 1) * rows * dim);
    interaction.forward(z.data(), rows, out.data());
    interaction.backward(z.data(), gradient.data(), rows, bottom.data(), pooled.data(), rows * dim);
    out.resize(rows * interaction.width());
    out.insert(out.end(), bottom.begin(), bottom.end());
    out.insert(out.end(), pooled.begin(), pooled.end());
    return out;
  };
  CHECK(made_by(false) == made_by(machine_has_avx512()));
}
