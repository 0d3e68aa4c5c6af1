#pragma once

#include <string>

#include "tuner/policy.h"

namespace forebay {

/// Describes a decision in one line: `transform 1 -> 3, prefetch 4 -> 6: transform holds the others
/// up`.
std::string describe(const tuner::Decision& decision,
                     const tuner::PipelineDescription& description);

/// Describes an allocation in one line: `load 1, decode 2, prefetch 4`.
std::string describe(const tuner::Allocation& allocation,
                     const tuner::PipelineDescription& description);

}  // namespace forebay
