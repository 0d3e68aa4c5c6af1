#pragma once

#include <optional>
#include <vector>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/run/job_run.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/torch_probe.h"

namespace forebay {

/// Checks a job as a run of it would: its folder, disk, dataset, transforms, memory, checkpoints.
///
/// Holds the lock of the job's folder meanwhile and writes the dataset's index; decompresses
/// nothing. `probe` is set for a model that needs libtorch.
std::vector<Finding> check_job(const JobSpec& job, const std::optional<TorchProbe>& probe,
                               const JobRun::Hooks& hooks);

}  // namespace forebay
