#include "actors/transform/kernel_choice.h"

#include <cstdlib>

namespace forebay {

// One compilation of kernel_loops.cpp each.
extern const Kernels kScalarKernels;
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;

namespace {

bool machine_has(SimdLevel level) {
  switch (level) {
    case SimdLevel::kScalar:
      return true;
    case SimdLevel::kAvx2:
      return __builtin_cpu_supports("avx2") != 0;
    case SimdLevel::kAvx512:
      return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
             __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  }
  return false;
}

std::optional<SimdLevel> level_named(const std::string& name) {
  if (name == "scalar") return SimdLevel::kScalar;
  if (name == "avx2") return SimdLevel::kAvx2;
  if (name == "avx512") return SimdLevel::kAvx512;
  return std::nullopt;
}

}  // namespace

std::optional<Kernels> kernels_at(SimdLevel level) {
  if (!machine_has(level)) return std::nullopt;
  switch (level) {
    case SimdLevel::kScalar:
      return kScalarKernels;
    case SimdLevel::kAvx2:
      return kAvx2Kernels;
    case SimdLevel::kAvx512:
      return kAvx512Kernels;
  }
  return std::nullopt;
}

Result<Kernels> choose_kernels() {
  const char* wanted = std::getenv("FOREBAY_SIMD");
  if (wanted == nullptr || *wanted == '\0') {
    for (const SimdLevel level : {SimdLevel::kAvx512, SimdLevel::kAvx2}) {
      if (machine_has(level)) return *kernels_at(level);
    }
    return kScalarKernels;
  }
  const auto level = level_named(wanted);
  if (!level) {
    return fail(Code::kInvalid, "FOREBAY_SIMD: unknown level \"" + std::string(wanted) +
                                    "\"; one of scalar, avx2, avx512");
  }
  const auto kernels = kernels_at(*level);
  if (!kernels) {
    return fail(Code::kInvalid,
                "FOREBAY_SIMD: this machine has no " + std::string(wanted) + "; leave it unset");
  }
  return *kernels;
}

}  // namespace forebay
