#pragma once

#include <cstdint>
#include <vector>

#include "tuner/pipeline_description.h"

namespace forebay::tuner {

/// What one stage did in an interval: counts and sums, as real actors report them.
///
/// Actors spend their time working on a split (`working`), waiting for one (`input_wait`) or
/// waiting with a finished one until the next queue has room (`output_wait`). Of a split's service
/// time a part is on a CPU, a part is spent wanting one (`ready`: the kernel's run delay), the rest
/// waits for disk or network, a rate limit included. The `done_` sums are of the splits completed
/// in the interval and cover their whole service, even where it began before.
struct StageObservation {
  std::uint32_t actors = 0;   ///< Asked for, at the interval's end.
  std::uint32_t leaving = 0;  ///< Told to go, still finishing a split.
  double actor_seconds = 0;   ///< Time lived in the interval, summed over actors, leaving ones too.

  double working_seconds = 0;
  double input_wait_seconds = 0;
  double output_wait_seconds = 0;
  double cpu_seconds = 0;  ///< CPU used in the interval, unfinished splits included.

  std::uint64_t done = 0;           ///< Splits completed (put out or waiting to be).
  double done_seconds = 0;          ///< Their service times.
  double done_seconds_squared = 0;  ///< Sum of the squares of (service − ready) seconds.
  double done_cpu_seconds = 0;      ///< Of done_seconds, on a CPU.
  double done_ready_seconds = 0;    ///< Of done_seconds, wanting a CPU.
  double done_actors = 0;           ///< Sum over them of the actors alive when their service began.

  double queue_fill = 0;           ///< Of the queue after this stage: mean share filled, 0..1.
  std::uint64_t queued_bytes = 0;  ///< In it at the interval's end.
};

/// What a policy sees of one interval (between two decisions). A value.
///
/// Never the costs a modelled pipeline's file states: those have to be inferred.
struct Observation {
  double at_seconds = 0;  ///< Since the job's start, at the interval's end.
  double seconds = 0;     ///< The interval's length, pauses left out.
  Limits limits{};        ///< Now.
  std::vector<StageObservation> stages{};

  std::uint64_t trainer_steps = 0;  ///< Items (splits or batches) the trainer finished.
  double splits_per_item = 1;       ///< How many splits make one of them.
  double trainer_step_seconds = 0;  ///< Summed over those steps, waiting left out.
  double trainer_wait_seconds = 0;  ///< Waiting for data; evaluation and checkpoints are neither.
  double other_cpu_seconds = 0;     ///< CPU the process used outside the stages.

  std::uint32_t prefetch = 1;        ///< Allowed to wait, at the interval's end.
  double prefetch_fill = 0;          ///< Mean share of that filled, 0..1.
  std::uint64_t prefetch_full = 0;   ///< How often it became full,
  std::uint64_t prefetch_empty = 0;  ///< and empty when the trainer asked.
  std::uint64_t memory_bytes = 0;    ///< In use at the interval's end, by the pipeline's account.
  std::uint64_t memory_peak = 0;     ///< The most in the interval.

  double splits_per_second() const {
    return seconds > 0 ? static_cast<double>(trainer_steps) * splits_per_item / seconds : 0;
  }
};

}  // namespace forebay::tuner
