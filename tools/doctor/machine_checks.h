#pragma once

#include <optional>
#include <vector>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/torch_probe.h"

namespace forebay {

/// Whether a command will train, so that what only training needs is missed.
enum class Training : std::uint8_t { kMaybe, kWanted, kNo };

/// CPUs and memory, against what `job` asks for where there is one, and the vector instructions.
std::vector<Finding> check_machine(const std::optional<JobSpec>& job);

/// libtorch and the BLAS it found.
std::vector<Finding> check_torch(const Result<TorchProbe>& probe, Training training);

}  // namespace forebay
