#pragma once

#include <string>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "tools/command/commands.h"

namespace forebay {

/// Loads the job of the first argument, with its `--set`s and this machine's defaults.
Result<JobSpec> open_job(const Invocation& invocation);

/// Does the same as if the file's text were `text`.
Result<JobSpec> open_job(const Invocation& invocation, std::string text);

/// Returns the option's whole number from `low` to `high`, or `otherwise` if it was not given.
Result<std::uint64_t> count_of(const Invocation& invocation, const std::string& option,
                               std::uint64_t low, std::uint64_t high, std::uint64_t otherwise);

/// Returns the run's folder in a job's folder: its `.forebay`, or `folder` if there is none.
std::string run_folder_in(const std::string& folder);

}  // namespace forebay
