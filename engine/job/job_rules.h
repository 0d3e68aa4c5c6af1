#pragma once

#include "core/base/result.h"
#include "engine/job/job_spec.h"

namespace forebay {

/// Refuses (kInvalid) keys that contradict each other although each is valid on its own.
Status check_combinations(const JobSpec& job);

}  // namespace forebay
