#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/outputs/inputs.h"
#include "engine/outputs/outputs.h"

namespace forebay {

/// Returns the existing files that a job reads: data files, the job file, keys, libraries of user
/// functions, checkpoints that are kept.
Inputs inputs_of(const JobSpec& job);

/// Returns the files that `command` writes for a job without an option: files in `run.dir`, and
/// those of `[trainer]` if it trains.
std::vector<Output> outputs_of(const JobSpec& job, const std::string& command);

/// Call it before a job starts anything. Publishes the job's inputs, then refuses (kInvalid)
/// outputs that would destroy an input of this job or of another process. In this order, at least
/// one of two jobs that start at the same time sees the other's inputs. Keep the returned object
/// while the job runs.
Result<PublishedInputs> guard_inputs(const Inputs& inputs, const std::vector<Output>& outputs,
                                     const PublishedInputs::Say& say);

}  // namespace forebay
