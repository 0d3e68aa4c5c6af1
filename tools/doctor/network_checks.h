#pragma once

#include <vector>

#include "engine/job/job_spec.h"
#include "tools/doctor/checks.h"

namespace forebay {

/// Checks the keys and addresses of a job as its run does: listens at each address and frees it at
/// once. Nothing is found about what the job does not use. The job's folder must be held.
std::vector<Finding> check_network_of(const JobSpec& job);

}  // namespace forebay
