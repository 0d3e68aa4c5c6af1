#pragma once

#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Adds to `to` the counts and times of `more`, of another interval or another stage; the actors at
/// the end and the queue stay those of `to`.
inline void add_sums(StageObservation& to, const StageObservation& more) {
  to.actor_seconds += more.actor_seconds;
  to.working_seconds += more.working_seconds;
  to.input_wait_seconds += more.input_wait_seconds;
  to.output_wait_seconds += more.output_wait_seconds;
  to.cpu_seconds += more.cpu_seconds;
  to.done += more.done;
  to.done_seconds += more.done_seconds;
  to.done_seconds_squared += more.done_seconds_squared;
  to.done_cpu_seconds += more.done_cpu_seconds;
  to.done_ready_seconds += more.done_ready_seconds;
  to.done_actors += more.done_actors;
}

}  // namespace forebay::tuner
