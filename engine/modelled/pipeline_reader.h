#pragma once

#include <string_view>

#include "core/base/result.h"
#include "engine/job/toml_library.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay {

/// Reads the tables of a pipeline file, each by itself and what they name of each other. kInvalid
/// as parse_pipeline(); whether its memory suffices is not checked.
Result<tuner::PipelineModel> read_pipeline(const toml::table& root, std::string_view file);

}  // namespace forebay
