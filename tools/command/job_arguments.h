#pragma once

#include <string>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "tools/command/command.h"

namespace forebay {

/// Loads the job of the first argument, with its `--set`s and this machine's defaults.
Result<JobSpec> open_job(const Invocation& invocation);

/// Does the same as if the file's text were `text`.
Result<JobSpec> open_job(const Invocation& invocation, std::string text);

}  // namespace forebay
