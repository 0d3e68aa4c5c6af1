#pragma once

#include "tuner/sim/pipeline_model.h"
#include "tuner/world/shared_speeds.h"

namespace forebay::tuner {

/// The speeds of a model's lines (world_layout.h), in their order, with what each of them uses of
/// the resources that its node sees. No split is in work.
SharedSpeeds speeds_of(const PipelineModel& model);

}  // namespace forebay::tuner
