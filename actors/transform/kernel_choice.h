#pragma once

#include <optional>
#include <string>

#include "actors/transform/kernels.h"
#include "core/base/cpu_level.h"
#include "core/base/result.h"

namespace forebay {

/// The kernels of one level; nothing where this machine cannot run it.
std::optional<Kernels> kernels_at(CpuLevel level);

/// The kernels of the best level of this machine, or of the one that the environment variable
/// FOREBAY_SIMD names (scalar, avx2 or avx512); kInvalid for a name that is none of these, or a
/// level that the machine lacks.
Result<Kernels> choose_kernels();

}  // namespace forebay
