#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/outputs/inputs.h"
#include "engine/outputs/outputs.h"
#include "engine/outputs/running_inputs.h"

namespace forebay {

/// What a job reads, as far as it exists: data files, the job file, keys, libraries of user
/// functions, checkpoints that are kept.
Inputs inputs_of(const JobSpec& job);

/// What `command` writes of its own accord for a job: files of `run.dir`, and those of `[trainer]`
/// when it trains.
std::vector<Output> outputs_of(const JobSpec& job, const std::string& command);

/// Called before a job starts anything: publishes its inputs and then refuses (kInvalid) outputs
/// that would destroy an input of it or of another process; in this order, so that of two jobs
/// that start at once at least one sees the other's. What it returns is kept while the job runs.
Result<PublishedInputs> guard_inputs(const Inputs& inputs, const std::vector<Output>& outputs,
                                     const PublishedInputs::Say& say);

}  // namespace forebay
