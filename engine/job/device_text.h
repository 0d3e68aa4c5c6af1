#pragma once

#include <string>

#include "core/data/schema.h"
#include "engine/job/job_spec.h"

namespace forebay {

/// What the model of a job takes on its device, for a person; "" on the cpu. Whether the device has
/// it is found out as the model is made.
std::string describe_device(const JobSpec& job, const Schema& schema);

}  // namespace forebay
