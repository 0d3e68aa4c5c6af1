#pragma once

#include <string>
#include <string_view>

#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Says of a learned state that a policy of make_policy() for this pipeline does not restore what
/// differs, as the end of a sentence: "is of a run …", or "is of another version". Pure.
std::string describe_misfit(std::string_view learned_state, const PipelineDescription& description);

}  // namespace forebay::tuner
