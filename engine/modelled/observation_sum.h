#pragma once

#include <span>

#include "tuner/observation.h"

namespace forebay {

/// Intervals that follow one another, as one: sums are added, means weighted by time, and what is
/// said of an interval's end is the last one's. At least one.
tuner::Observation sum_of(std::span<const tuner::Observation> intervals);

}  // namespace forebay
