#pragma once

#include <optional>
#include <vector>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/torch_probe.h"

namespace forebay {

/// Whether a command will train, so that missing training software is a problem.
enum class Training : std::uint8_t { kMaybe, kWanted, kNo };

/// Checks CPUs and memory, against the needs of `job` if it is given, and the vector instructions.
std::vector<Finding> check_machine(const std::optional<JobSpec>& job);

/// Checks libtorch and the BLAS that it loaded.
std::vector<Finding> check_torch(const Result<TorchProbe>& probe, Training training);

}  // namespace forebay
