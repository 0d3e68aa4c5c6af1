#include "actors/transform/kernel_choice.h"

namespace forebay {

// One table for each compilation of kernel_loops.cpp.
extern const Kernels kScalarKernels;
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;

std::optional<Kernels> kernels_at(CpuLevel level) {
  if (level > best_cpu_level()) return std::nullopt;
  switch (level) {
    case CpuLevel::kBaseline:
      return kScalarKernels;
    case CpuLevel::kAvx2:
      return kAvx2Kernels;
    case CpuLevel::kAvx512:
      return kAvx512Kernels;
  }
  return std::nullopt;
}

Result<Kernels> choose_kernels() {
  auto level = chosen_cpu_level();
  if (!level) return pass(level);
  return *kernels_at(*level);
}

}  // namespace forebay
