#pragma once

#include <string>

#include "tuner/decision.h"

namespace forebay {

/// A decision in a line: `transform 1 -> 3, prefetch 4 -> 6: transform holds the others up`.
std::string words_of(const tuner::Decision& decision, const tuner::PipelineDescription& layout);

/// An allocation in a line: `load 1, decode 2, prefetch 4`.
std::string words_of(const tuner::Allocation& allocation, const tuner::PipelineDescription& layout);

}  // namespace forebay
