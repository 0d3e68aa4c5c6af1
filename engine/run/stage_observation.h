#pragma once

#include "actors/pipeline.h"
#include "tuner/tuned_pipeline.h"

namespace forebay {

/// Returns what a pool did between two samples: everything except the requested actors and the
/// queue.
tuner::StageObservation observation_of(const PoolStats& before, const PoolStats& now);

/// Returns how full the queue after a stage is, 0 to 1: the next pool's mailbox; after the last of
/// `stages` stages, the share of the window that waits for the reorder buffer, or 0 without one.
double fill_behind(const PipelineStats& stats, std::size_t stage, std::size_t stages);

}  // namespace forebay
