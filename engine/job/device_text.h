#pragma once

#include <string>

#include "core/data/schema.h"
#include "engine/job/job_spec.h"

namespace forebay {

/// Describes for the user what a job's model uses on its device; "" on the cpu. Whether the device
/// has enough memory is checked when the model is made.
std::string describe_device(const JobSpec& job, const Schema& schema);

}  // namespace forebay
