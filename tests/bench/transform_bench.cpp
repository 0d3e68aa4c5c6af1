// The usual work of a click log, log1p on 13 dense and sigrid_hash on 26 sparse columns of a split
// in L2, in nanoseconds a row, for each instruction set this machine has. The best of many runs.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

#include "actors/transform/kernel_choice.h"
#include "core/base/random.h"

namespace forebay {
namespace {

constexpr std::size_t kRows = 5000;
constexpr std::size_t kDense = 13;
constexpr std::size_t kSparse = 26;
constexpr int kRuns = 400;

/// Nanoseconds a row of the fastest of kRuns calls.
template <class Work>
double best_of(Work work) {
  double best = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / kRows);
  }
  return best;
}

void measure(const char* name, const Kernels& kernels) {
  Random random(1);
  std::vector<float> dense(kDense * kRows);
  std::vector<std::int64_t> ids(kSparse * kRows);
  for (float& value : dense) value = static_cast<float>(random.below(10000));
  for (std::int64_t& id : ids) id = static_cast<std::int64_t>(random.next() >> 32);
  const FloorMod modulus = FloorMod::by(1000000);
  const double log1p = best_of([&] {
    for (std::size_t i = 0; i < kDense; ++i) kernels.log1p(dense.data() + i * kRows, kRows);
  });
  const double hash = best_of([&] {
    for (std::size_t i = 0; i < kSparse; ++i) {
      kernels.sigrid_hash(ids.data() + i * kRows, kRows, 0, modulus);
    }
  });
  std::printf("%-7s log1p %6.1f  sigrid_hash %6.1f  both %6.1f ns a row\n", name, log1p, hash,
              log1p + hash);
}

}  // namespace
}  // namespace forebay

int main() {
  using forebay::CpuLevel;
  const std::pair<const char*, CpuLevel> levels[] = {
      {"scalar", CpuLevel::kBaseline}, {"avx2", CpuLevel::kAvx2}, {"avx512", CpuLevel::kAvx512}};
  for (const auto& [name, level] : levels) {
    if (const auto kernels = forebay::kernels_at(level)) forebay::measure(name, *kernels);
  }
}
