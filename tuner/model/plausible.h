#pragma once

#include "tuner/observation.h"

namespace forebay::tuner {

/// Returns `seen` with implausible values replaced: numbers that are not finite or negative, parts
/// larger than their whole, stages that are missing or surplus. The model then accepts the report
/// of any tuned pipeline.
Observation plausible(const PipelineDescription& description, Observation seen);

}  // namespace forebay::tuner
