#pragma once

#include <vector>

#include "tuner/plan/best_allocation.h"
#include "tuner/plan/cost.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay::tuner {

/// The model's true costs, without its events (see model_at).
std::vector<StageCost> costs_of(const PipelineModel& model);

/// The most splits/s that the trainer takes; 0: unlimited.
double trainer_rate_of(const PipelineModel& model);

/// The best fixed allocation of the model without its events, with prefetch 1.
Plan oracle_of(const PipelineModel& model);

/// The largest seconds·cpu of a stage over their sum: 1/stages when balanced, near 1 when one stage
/// does nearly all the work. 0 if no stage needs a CPU.
double bottleneck_share(const PipelineModel& model);

}  // namespace forebay::tuner
