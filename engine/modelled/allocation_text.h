#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "tuner/allocation.h"

namespace forebay {

/// Reads `load=4,decode=2`: counts by stage name. Stages that are not named have 1 actor; the
/// prefetch is the description's default. kInvalid names the stage that does not exist (and the
/// nearest), that is named twice, or whose count is not from 1 to its max_actors.
Result<tuner::Allocation> parse_allocation(std::string_view text,
                                           const tuner::PipelineDescription& description);

}  // namespace forebay
