#pragma once

#include <cstdint>

#include "tuner/allocation.h"
#include "tuner/model/pipeline_estimate.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Two stages and a prefetch, with little memory for each.
inline PipelineDescription planned_stages() {
  PipelineDescription description;
  description.stages = {{"load", 64, 10}, {"decode", 64, 10}};
  description.prefetch_item_bytes = 5;
  description.max_prefetch = 16;
  description.default_prefetch = 8;
  description.fixed_bytes = 100;
  return description;
}

/// An interval of two seconds of a stage whose actors computed all the time.
inline StageObservation working(std::uint32_t actors, double seconds, double noise) {
  StageObservation seen;
  seen.actors = actors;
  seen.actor_seconds = 2.0 * actors;
  seen.done = 400;
  seen.working_seconds = seen.done_seconds = seen.done_cpu_seconds = 400 * seconds;
  seen.done_seconds_squared = 400 * seconds * seconds * (1 + noise * noise);
  seen.done_actors = 400.0 * actors;
  return seen;
}

/// Measured at many numbers of actors: 0.1 s and 0.2 s a split, no contention.
inline PipelineEstimate measured(double noise, double trainer_rate) {
  PipelineEstimate known(planned_stages());
  for (const std::uint32_t actors : {1U, 4U, 16U, 48U, 8U}) {
    Observation seen;
    seen.seconds = 2;
    seen.limits = {12, 10'000};
    seen.stages = {working(actors, 0.1, noise), working(actors, 0.2, noise)};
    seen.trainer_steps = 10;
    seen.trainer_step_seconds = 10 / trainer_rate;
    known.observe(seen);
  }
  return known;
}

/// An interval on a large machine: contention of more actors than these is unknown.
inline PipelineEstimate measured_once(const StageObservation& load,
                                      const StageObservation& decode) {
  PipelineEstimate known(planned_stages());
  Observation seen;
  seen.seconds = 2;
  seen.limits = {200, 10'000};
  seen.stages = {load, decode};
  seen.trainer_steps = 10;
  seen.trainer_step_seconds = 1e-4;
  known.observe(seen);
  return known;
}

}  // namespace forebay::tuner
