#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay {

/// Reads a modelled pipeline (format: tests/tuner/pipelines, meaning: tuner/sim/README.md).
///
/// What it returns can be simulated: every number is in its range, names are unique, events are in
/// order of time and name known stages, one actor a stage with prefetch 1 fits in memory at any
/// moment. kInvalid names file, line, key, value and what is wanted, or the nearest known key.
/// `name` is how messages call the file.
Result<tuner::PipelineModel> parse_pipeline(std::string_view text, std::string_view name);

/// The same from a file; kNotFound when there is none.
Result<tuner::PipelineModel> load_pipeline(const std::string& path);

/// The model as such a file; parse_pipeline of it gives the same model, to the bit.
std::string pipeline_text(const tuner::PipelineModel& model);

/// Writes it, aside and renamed, making the folder too. kInvalid when it cannot be written.
Status save_pipeline(const tuner::PipelineModel& model, const std::string& path);

}  // namespace forebay
