#pragma once

#include <optional>

#include "actors/transform/kernels.h"
#include "core/base/cpu_level.h"
#include "core/base/result.h"

namespace forebay {

/// The kernels of `level`; empty if this machine cannot run it.
std::optional<Kernels> kernels_at(CpuLevel level);

/// The kernels of the best level of this machine, or of the level that the environment variable
/// FOREBAY_SIMD names (scalar, avx2 or avx512). Returns kInvalid for another name, or a level that
/// the machine lacks.
Result<Kernels> choose_kernels();

}  // namespace forebay
