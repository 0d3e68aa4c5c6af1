#include "core/base/cpu_level.h"

#include <cstdlib>
#include <string>

#include "core/base/enum_names.h"

namespace forebay {
namespace {

constexpr EnumName<CpuLevel> kNames[] = {
    {"scalar", CpuLevel::kBaseline}, {"avx2", CpuLevel::kAvx2}, {"avx512", CpuLevel::kAvx512}};

}  // namespace

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

Result<CpuLevel> chosen_cpu_level() {
  const char* wanted = std::getenv("FOREBAY_SIMD");
  if (wanted == nullptr || *wanted == '\0') return best_cpu_level();
  const auto level = value_in(kNames, wanted);
  if (!level) {
    return fail(Code::kInvalid, "FOREBAY_SIMD: unknown level \"" + std::string(wanted) +
                                    "\"; one of " + list_names(kNames, ", "));
  }
  if (*level > best_cpu_level()) {
    return fail(Code::kInvalid,
                "FOREBAY_SIMD: this machine has no " + std::string(wanted) + "; leave it unset");
  }
  return *level;
}

}  // namespace forebay
