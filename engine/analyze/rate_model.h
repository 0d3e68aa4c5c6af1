#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/analyze/parts.h"
#include "engine/analyze/workers.h"
#include "tuner/allocation.h"
#include "tuner/model/pipeline_estimate.h"
#include "tuner/plan/plan.h"

namespace forebay {

/// A job's pipeline as its rate depends on it: costs a split, actors, machine. A value; what-if is
/// a copy of it with one change.
struct RateModel {
  tuner::PipelineDescription description = {};
  std::vector<tuner::StageCost> costs = {};  ///< Of the job's stages, a split.
  std::vector<double> noise = {};            ///< Of each stage's service time.
  double loss_scale = 1;                     ///< Of tuner::expected_rate.
  std::vector<std::uint32_t> actors = {};
  std::uint32_t prefetch = 1;
  bool tuned = false;  ///< The actors would follow a change: the plan's count, not `actors`.
  tuner::Limits limits{};
  double batch_seconds = 0;    ///< Of the batch stage's one actor, a split.
  double batch_cpu = 0;        ///< Of these, on a CPU.
  double trainer_seconds = 0;  ///< Of the trainer, a split.
  double outside_cpu = 0;  ///< CPU seconds a split outside of all stages: the trainer's, mostly.
  double rows_per_split = 1;
  double workers = 0;        ///< Machines that make splits for it.
  double worker_splits = 0;  ///< Splits/s that each makes; 0: as many as this machine's stages.
  bool makes_splits = true;  ///< This machine makes splits, too.
  double received_cpu = 0;   ///< CPU seconds of this machine for a split from a worker.
};

/// CPU seconds that the model charges this machine for a row of a worker beyond its batch: what
/// trainer and worker together took in a measurement of 2026-11-22, so more than the trainer's
/// part. Later measurements are in tests/bench/README.md (`remote_cpu_per_row`).
inline constexpr double kRemoteRowSeconds = 183e-9;

/// Returns rows/s that the model gives for the model's own conditions. Pure.
double rows_per_second(const RateModel& model);

/// Returns the actors that the plan gives each stage under the model's conditions; `model.actors`
/// where no allocation fits.
std::vector<std::uint32_t> planned_actors(const RateModel& model);

/// What a measured run gives to the model.
struct MeasuredCosts {
  const tuner::PipelineDescription& description;
  const tuner::PipelineEstimate& estimate;
  const std::vector<Piece>& pieces;
  const RunSample& before;
  const RunSample& now;
  tuner::Limits limits{};
  bool tuned = false;
  Workers workers = {};
  bool makes_splits = true;
};

/// Returns the model of a run. Pure.
RateModel rate_model_of(const MeasuredCosts& measured);

}  // namespace forebay
