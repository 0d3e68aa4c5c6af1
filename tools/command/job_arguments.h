#pragma once

#include <string>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "tools/command/command.h"

namespace forebay {

/// Loads the job that the first argument names, with its `--set`s and this machine's defaults.
Result<JobSpec> open_job(const Invocation& invocation);

/// The same if the file's text were `text`.
Result<JobSpec> open_job(const Invocation& invocation, std::string text);

}  // namespace forebay
