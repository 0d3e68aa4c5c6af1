#pragma once

#include "engine/job/job_keys.h"
#include "engine/job/job_spec.h"

namespace forebay {

/// Reads all tables of the job file except [[transform]] into `job`; keys that are missing keep the
/// values in `job`.
void read_sections(JobKeys& keys, JobSpec& job);

}  // namespace forebay
