#pragma once

#include "core/base/result.h"
#include "engine/job/job_spec.h"

namespace forebay {

/// Refuses (kInvalid) keys that do not go together: what no single one can be blamed for.
Status check_combinations(const JobSpec& job);

}  // namespace forebay
