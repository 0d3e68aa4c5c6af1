#pragma once

#include <span>

#include "tuner/observation.h"

namespace forebay {

/// Joins consecutive intervals into one: sums are added, means are weighted by time, and values at
/// an interval's end are those of the last one. Needs at least one interval.
tuner::Observation sum_of(std::span<const tuner::Observation> intervals);

}  // namespace forebay
