#pragma once

#include <optional>
#include <vector>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/run/job_run.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/torch_probe.h"

namespace forebay {

/// Looks at a job as a run of it would: its folder, disk, dataset, transforms, memory, checkpoints.
///
/// Holds the job's folder meanwhile and leaves the dataset's index behind; decompresses nothing.
/// `probe` is of a model that needs libtorch.
std::vector<Finding> check_job(const JobSpec& job, const std::optional<TorchProbe>& probe,
                               const JobRun::Hooks& hooks);

}  // namespace forebay
