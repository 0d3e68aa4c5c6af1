#pragma once

#include "tuner/observation.h"

namespace forebay::tuner {

/// `seen` with what cannot be taken for nothing: numbers that are none or negative, parts larger
/// than their whole, stages that are missing or too many. Whatever a tuned pipeline reports, the
/// model goes on.
Observation plausible(const PipelineDescription& description, Observation seen);

}  // namespace forebay::tuner
