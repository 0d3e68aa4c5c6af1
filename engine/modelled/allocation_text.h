#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "tuner/allocation.h"

namespace forebay {

/// Reads `load=4,decode=2`: stages by name, those not named have 1; prefetch as the layout asks.
/// kInvalid names the stage that is not there (and the nearest), is named twice, or whose count is
/// not from 1 to its max_actors.
Result<tuner::Allocation> parse_allocation(std::string_view text,
                                           const tuner::PipelineDescription& description);

}  // namespace forebay
