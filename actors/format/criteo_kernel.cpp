#include "actors/format/criteo_kernel.h"

namespace forebay {

CpuLevel best_cpu_level() {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
                      __builtin_cpu_supports("avx512vbmi2") &&
                      __builtin_cpu_supports("avx512vpopcntdq");
  if (avx512) return CpuLevel::kAvx512;
  return avx2 ? CpuLevel::kAvx2 : CpuLevel::kBaseline;
}

const CriteoKernel& criteo_kernel(CpuLevel level) {
  switch (level) {
    case CpuLevel::kAvx512:
      return kCriteoAvx512;
    case CpuLevel::kAvx2:
      return kCriteoAvx2;
    case CpuLevel::kBaseline:
      break;
  }
  return kCriteoBaseline;
}

}  // namespace forebay
