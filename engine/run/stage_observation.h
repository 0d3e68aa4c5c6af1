#pragma once

#include <chrono>

#include "actors/pipeline.h"
#include "tuner/observation.h"

namespace forebay {

/// What a pool did between two looks at it: everything but the actors asked for and the queue.
tuner::StageObservation observation_of(const PoolStats& before, const PoolStats& now);

/// How full the queue behind a stage is, 0 to 1: the next pool's mailbox; behind the last stage,
/// the share of the window that waits for the reorder buffer.
double fill_behind(const PipelineStats& stats, std::size_t stage);

}  // namespace forebay
