#pragma once

#include <cstddef>
#include <string>

#include "actors/transform/step.h"

namespace forebay {

/// Where a row came from, for errors: "clicks.tsv, row at byte 1234".
std::string row_name(const StepRun& run, std::size_t row);

}  // namespace forebay
