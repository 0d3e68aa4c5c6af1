#pragma once

#include "engine/job/job_keys.h"
#include "engine/job/job_spec.h"

namespace forebay {

/// Takes what the job file's tables say, but for [[transform]], over what `job` holds already.
void read_sections(JobKeys& keys, JobSpec& job);

}  // namespace forebay
