#include "trainer/torch/kernels/bf16.h"

#include <bit>
#include <cstddef>

#include "core/base/check.h"
#include "trainer/torch/kernels/clones.h"

namespace forebay {
namespace {

FOREBAY_CLONES void add(const std::uint16_t* values, std::size_t runs, std::span<float> sums) {
  for (std::size_t run = 0; run < runs; ++run, values += sums.size()) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += std::bit_cast<float>(std::uint32_t{values[i]} << 16);
    }
  }
}

}  // namespace

void add_bf16(std::span<const std::uint16_t> values, std::span<float> sums) {
  FOREBAY_CHECK(values.size() % sums.size() == 0);
  add(values.data(), values.size() / sums.size(), sums);
}

bool machine_multiplies_bf16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0;
#else
  return false;
#endif
}

}  // namespace forebay
