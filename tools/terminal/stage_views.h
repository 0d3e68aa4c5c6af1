#pragma once

#include <vector>

#include "actors/pipeline.h"
#include "tools/terminal/stage_view.h"

namespace forebay {

/// Returns the activity of each stage between two samples of a pipeline; `before` without stages
/// means its start.
std::vector<StageView> stage_views(const PipelineStats& before, const PipelineStats& now);

}  // namespace forebay
