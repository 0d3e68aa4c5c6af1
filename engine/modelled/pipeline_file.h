#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay {

/// Reads a modelled pipeline (format: tests/tuner/pipelines, meaning: tuner/sim/README.md).
///
/// Every model that it returns can be simulated: every number is in its range, names are unique,
/// events are in order of time and name known stages, and one actor a stage with prefetch 1 fits in
/// memory at any moment. kInvalid names file, line, key, value and what is wanted, or the nearest
/// known key. `name` is the file in messages.
Result<tuner::PipelineModel> parse_pipeline(std::string_view text, std::string_view name);

/// Does the same from a file; kNotFound if it does not exist.
Result<tuner::PipelineModel> load_pipeline(const std::string& path);

/// Returns the model as the text of such a file; parse_pipeline of it returns the same model, to
/// the bit.
std::string pipeline_text(const tuner::PipelineModel& model);

/// Writes the model to a temporary file and renames it; creates the folder. kInvalid: it cannot be
/// written.
Status save_pipeline(const tuner::PipelineModel& model, const std::string& path);

}  // namespace forebay
