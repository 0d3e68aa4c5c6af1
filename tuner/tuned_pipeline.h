#pragma once

#include <cstdint>
#include <vector>

#include "tuner/allocation.h"

namespace forebay::tuner {

/// The counts and sums of one stage in an interval, as real actors report them.
///
/// Actors spend their time working on a split (`working`), waiting for one (`input_wait`) or
/// waiting with a finished one for space in the next queue (`output_wait`). A split's service time
/// consists of time on a CPU, time wanting a CPU (`ready`: the kernel's run delay), and waiting for
/// disk or network, including a rate limit. The `done_` sums cover the whole service of the splits
/// completed in the interval, even if it began before.
struct StageObservation {
  std::uint32_t actors = 0;   ///< Requested, at the interval's end.
  std::uint32_t leaving = 0;  ///< Asked to stop, still finishing a split.
  double actor_seconds = 0;   ///< Alive time in the interval over all actors, leaving ones too.

  double working_seconds = 0;
  double input_wait_seconds = 0;
  double output_wait_seconds = 0;
  double cpu_seconds = 0;  ///< CPU used in the interval, unfinished splits included.

  std::uint64_t done = 0;           ///< Splits completed (handed on or waiting to be).
  double done_seconds = 0;          ///< Their service times.
  double done_seconds_squared = 0;  ///< Sum of the squares of (service − ready) seconds.
  double done_cpu_seconds = 0;      ///< Of done_seconds, on a CPU.
  double done_ready_seconds = 0;    ///< Of done_seconds, waiting for a CPU.
  double done_actors = 0;  ///< Sum over these splits of the actors alive when their service began.

  double queue_fill = 0;           ///< Of the queue after this stage: mean share filled, 0..1.
  std::uint64_t queued_bytes = 0;  ///< In that queue at the interval's end.

  /// The share of their time that the actors worked; 0 if none was alive.
  double busy_share() const { return actor_seconds > 0 ? working_seconds / actor_seconds : 0; }
};

/// The share of its time that a trainer waits for data, up to which it is fed: it would hardly take
/// more than it gets.
inline constexpr double kFedWait = 0.02;

/// The policy's view of one interval (between two decisions). A value.
///
/// Never contains the costs in a modelled pipeline's file: a policy has to infer them.
struct Observation {
  double at_seconds = 0;  ///< Since the job's start, at the interval's end.
  double seconds = 0;     ///< The interval's length, without pauses.
  Limits limits{};        ///< At the interval's end.
  std::vector<StageObservation> stages{};

  std::uint64_t trainer_steps = 0;  ///< Items (splits or batches) the trainer finished.
  double splits_per_item = 1;       ///< How many splits make one item.
  double trainer_step_seconds = 0;  ///< Sum over those steps, without waiting.
  double trainer_wait_seconds = 0;  ///< Waiting for data, without evaluation and checkpoints.
  double other_cpu_seconds = 0;     ///< CPU the process used outside the stages.

  std::uint32_t prefetch = 1;        ///< Limit of waiting items, at the interval's end.
  double prefetch_fill = 0;          ///< Mean share of that limit filled, 0..1.
  std::uint64_t prefetch_full = 0;   ///< How often it became full.
  std::uint64_t prefetch_empty = 0;  ///< How often it was empty when the trainer asked.
  std::uint64_t memory_bytes = 0;    ///< In use at the interval's end, by the pipeline's account.
  std::uint64_t memory_peak = 0;     ///< The most in the interval.

  /// The current allocation.
  Allocation allocation() const {
    Allocation current{.prefetch = prefetch};
    for (const StageObservation& stage : stages) current.actors.push_back(stage.actors);
    return current;
  }
  /// Whether the trainer got about all that it could take.
  bool is_fed() const { return trainer_wait_seconds <= kFedWait * seconds; }
  double splits_per_second() const {
    return seconds > 0 ? static_cast<double>(trainer_steps) * splits_per_item / seconds : 0;
  }
};

/// The current allocation and its memory: all that the guard needs to know.
struct CurrentState {
  Limits limits{};
  std::vector<std::uint32_t> actors{};   ///< Requested; leaving actors not counted.
  std::vector<std::uint32_t> leaving{};  ///< Asked to stop, not ended yet.
  std::uint32_t prefetch = 1;            ///< Limit of waiting items.
  std::uint32_t prefetched = 0;    ///< Waiting items; may exceed the limit for a while after a cut.
  std::uint64_t memory_bytes = 0;  ///< In use, by the pipeline's own account.
  /// Bytes that count against the limit: the account, or the kernel's number if larger; 0: not
  /// known.
  std::uint64_t resident_bytes = 0;
  std::uint64_t process_bytes = 0;  ///< The process as the kernel sees it; 0: not known.

  Allocation allocation() const { return {actors, prefetch}; }
};

/// The controlled system: a tuner observes it and sets its allocation.
///
/// Implemented by the simulator, the emulated machine and a running job. Belongs to the tuner's
/// thread.
class TunedPipeline {
 public:
  virtual ~TunedPipeline() = default;

  virtual const PipelineDescription& description() const = 0;
  /// Called before each step and decision: takes a sample for the next observation, and lets the
  /// pipeline's memory follow what the process uses.
  virtual void tick() {}
  virtual CurrentState current() const = 0;
  /// Returns the observation since the last call.
  virtual Observation observe() = 0;
  /// Resizes towards `allocation`: actors are added at once, and removed when they finish their
  /// split.
  virtual void apply(const Allocation& allocation) = 0;
};

}  // namespace forebay::tuner
