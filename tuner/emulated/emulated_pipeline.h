#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/runtime/stage_pool.h"
#include "core/runtime/synchronized.h"
#include "tuner/allocation.h"
#include "tuner/emulated/machine_thread.h"
#include "tuner/emulated/virtual_machine.h"
#include "tuner/sim/memory_account.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// A split of a modelled pipeline: its bytes are counted but not allocated.
struct Split {
  std::uint64_t key = 0;
  double ready = 0;  ///< When the previous stage finished it, in seconds since the start.
};

/// Sums over the splits that a stage's actors completed since the last take(). Any thread.
class WorkSums {
 public:
  void add(const WorkItem& work) {
    const double ready = std::max(0.0, work.ready_seconds());
    const double unhindered = work.seconds() - ready;
    serial_([&] {
      ++sums_.done;
      sums_.done_seconds += work.seconds();
      sums_.done_seconds_squared += unhindered * unhindered;
      sums_.done_cpu_seconds += work.cpu_seconds;
      sums_.done_ready_seconds += ready;
      sums_.done_actors += work.actors;
    });
  }

  /// Returns the `done` fields and resets them; the other fields have their defaults.
  StageObservation take() {
    return serial_([this] { return std::exchange(sums_, {}); });
  }

 private:
  Synchronized<> serial_;
  StageObservation sums_;  // under the lock
};

/// The contents of a pipeline's pools at one moment, by stage.
struct Census {
  std::vector<std::uint32_t> actors;      ///< Alive, including those that are leaving.
  std::vector<std::uint32_t> leaving;     ///< Asked to stop, still alive.
  std::vector<std::uint32_t> queued;      ///< Splits behind the stage; the last: prefetched.
  std::uint32_t prefetch = 1;             ///< Limit of prefetched splits.
  std::vector<std::uint32_t> asked = {};  ///< Actors requested.
  /// With order: splits that were put into the source and that the trainer has not taken. Each of
  /// them gets into the prefetch queue, even if the queue is cut meanwhile.
  std::uint32_t started = 0;
};

/// Accounts for a pipeline's memory and queues over time, from one census to the next.
///
/// Memory follows the model (base, actors, queued splits) and is compared with the limit by
/// MemoryAccount. Plain state; times in seconds since the start.
class PipelineAccounting {
 public:
  /// From `start` seconds since the start on.
  explicit PipelineAccounting(const PipelineModel& model, double start = 0);

  /// Records the state from `now` on, with `memory_limit` bytes granted.
  void note(double now, const Census& census, std::uint64_t memory_limit);
  /// Records that the trainer asked and the prefetch was empty.
  void note_empty() { ++interval_.prefetch_empty; }

  struct Interval {
    double seconds = 0;
    std::vector<double> queue_fill;    ///< Mean share filled, by stage; the last: of the prefetch.
    std::uint64_t prefetch_full = 0;   ///< How often it became full.
    std::uint64_t prefetch_empty = 0;  ///< How often it was empty.
    std::uint64_t memory_peak = 0;
  };
  /// Returns the sums since the last call, up to the last note.
  Interval take();

  bool out_of_memory() const { return memory_.exceeded(); }
  std::uint64_t memory_bytes() const { return memory_.used(); }
  std::uint64_t memory_peak() const { return memory_.peak_ever(); }

 private:
  std::uint64_t bytes_in(const Census& census) const;
  void note_memory(double now, const Census& census, std::uint64_t limit);
  std::uint64_t leaving_bytes(const Census& census) const;
  double fill_of(std::size_t stage) const;

  const PipelineModel model_;
  MemoryAccount memory_;
  std::vector<std::uint32_t> exempt_;  // leaving actors from before a lower limit came into force
  Census census_;
  double noted_ = 0;
  Interval interval_;  // fills are integrals until take()
};

/// What follows the last stage of one node of several: the way to a trainer elsewhere.
class Outlet {
 public:
  virtual ~Outlet() = default;
  /// Takes a finished split, on the thread of an actor of the last stage, which waits here for
  /// room. Returns when there was room, in seconds since the start; nullopt: the node stops.
  virtual std::optional<double> take(const Split& split, PoolContext& context) = 0;
  /// Splits that count as behind the last stage, and their limit.
  virtual std::uint32_t queued() const = 0;
  virtual std::uint32_t limit() const = 0;
  virtual void set_prefetch(std::uint32_t splits) = 0;
};

/// The actors of a modelled pipeline: a pool of the real runtime for each stage, and a pool with a
/// single actor, the trainer.
///
/// The queue behind a stage is the next pool's mailbox, in arrival order, bounded by bytes to the
/// number of splits that the model gives; the queue before the trainer is the prefetch. The source
/// is the first mailbox: an actor that takes a split from it adds the next one. One node of several
/// has an outlet instead of a trainer, and splits only from begin(). Starts without actors. Any
/// thread may call it, but none of its own actors may destroy it.
class EmulatedPipeline {
 public:
  struct Options {
    const PipelineModel& model;
    MachineThread& machine;
    const Clock& clock;
    /// Called after a split was taken from or put into a queue, on the actor's thread.
    std::function<void()> on_move = [] {};
    /// Called when the trainer asks and its queue is empty.
    std::function<void()> on_empty = [] {};
    std::size_t node = 0;
    Outlet* outlet = nullptr;  ///< Of one node of several; outlives the pipeline.
  };

  explicit EmulatedPipeline(Options options);
  ~EmulatedPipeline();
  EmulatedPipeline(const EmulatedPipeline&) = delete;
  EmulatedPipeline& operator=(const EmulatedPipeline&) = delete;

  /// Resizes the pools: first those that shrink, then those that grow.
  void apply(const Allocation& allocation);
  /// Stops the pools. Each actor ends when the machine ends or stops the work of its split; see
  /// wait_until_gone().
  void cancel();
  /// Blocks until every thread has ended. Call it after cancel() and the machine's stop().
  void wait_until_gone();

  /// Adds a split to the source, of one node of several; false: the pools were stopped.
  bool begin(const Split& split);

  Census census() const;
  /// Splits that the trainer finished.
  std::uint64_t trained() const {
    return ordered_ ? trained_.load() : pools_[trainer_]->stats().totals.messages;
  }
  /// Totals of a stage's actors; index the trainer's with one past the last stage.
  ActorTotals totals(std::size_t stage) const { return pools_[stage]->stats().totals; }
  /// Returns the sums over completions since the last call.
  StageObservation take_sums(std::size_t stage) { return sums_[stage].take(); }
  /// The first error: the system could not start a thread.
  std::optional<Error> failure() const;

 private:
  class Actor;
  class OrderedTrainer;
  using Pool = StagePool<Split>;

  std::unique_ptr<Pool> make_pool(std::size_t stage, const std::string& name, std::size_t splits);
  void fail_with(const Error& error);
  std::unique_ptr<PoolWorker<Split>> make_actor(std::size_t stage);
  void feed_source(double at);
  void fill_source();
  std::optional<double> put_into_pool(std::size_t stage, const Split& split, PoolContext& context);

  const Options options_;
  const std::size_t trainer_;  // the trainer's stage number: one past the last stage
  std::vector<std::uint64_t> bytes_of_split_;  // in the mailbox of each pool
  std::vector<WorkSums> sums_;
  std::vector<std::atomic<double>> last_taken_;  // when a split was last taken from each mailbox
  std::vector<std::unique_ptr<Pool>> pools_;
  std::atomic<std::uint64_t> next_split_{0};
  const bool ordered_;                          // the trainer takes splits by number
  std::atomic<std::uint64_t> trainer_next_{0};  // with order, as the members below
  std::atomic<std::uint64_t> trained_{0};
  std::atomic<std::uint32_t> early_{0};  // splits that wait for an earlier one
  Synchronized<> serial_;                // guards the members below
  Allocation asked_;
  std::optional<Error> failure_;
};

}  // namespace forebay::tuner
