#pragma once

#include <vector>

#include "actors/pipeline.h"
#include "tools/terminal/stage_view.h"

namespace forebay {

/// What each stage did between two looks at a pipeline; `before` without stages stands for its
/// start.
std::vector<StageView> stage_views(const PipelineStats& before, const PipelineStats& now);

}  // namespace forebay
