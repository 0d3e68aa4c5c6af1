#pragma once

#include <cstdint>

#include "core/base/result.h"

namespace forebay {

/// The vector instructions of a processor. Kernels are compiled for each level and selected at run
/// time; every level gives the same bits.
enum class CpuLevel : std::uint8_t {
  kBaseline,  ///< Any x86-64.
  kAvx2,      ///< AVX2, BMI1, BMI2, POPCNT.
  kAvx512,    ///< kAvx2 and AVX-512 F, BW, DQ, VL, VBMI, VBMI2, VPOPCNTDQ (Ice Lake, Zen 4).
};

/// The highest level of this processor.
CpuLevel best_cpu_level();

/// The level to use: the one that the environment variable FOREBAY_SIMD names (scalar, avx2 or
/// avx512), else the best. kInvalid for any other name, and for a level that the processor lacks.
Result<CpuLevel> chosen_cpu_level();

}  // namespace forebay
