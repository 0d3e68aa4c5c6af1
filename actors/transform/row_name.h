#pragma once

#include <cstddef>
#include <string>

#include "actors/transform/step.h"

namespace forebay {

/// Names the file and offset of a row for errors: "clicks.tsv, row at byte 1234".
std::string row_name(const StepRun& run, std::size_t row);

}  // namespace forebay
