#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/runtime/stage_pool.h"
#include "core/runtime/synchronized.h"
#include "tuner/allocation.h"
#include "tuner/emulated/machine_thread.h"
#include "tuner/emulated/pipeline_accounting.h"
#include "tuner/emulated/work_item.h"

namespace forebay::tuner {

/// The actors of a modelled pipeline: a pool of the real runtime for each stage, and a pool with a
/// single actor, the trainer.
///
/// The queue behind a stage is the next pool's mailbox, in arrival order, bounded by bytes to the
/// number of splits that the model gives; the queue before the trainer is the prefetch. The source
/// is the first mailbox: an actor that takes a split from it adds the next one. Starts without
/// actors. Any thread may call it, but none of its own actors may destroy it.
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

  Census census() const;
  /// Actors requested, by stage.
  std::vector<std::uint32_t> asked() const;
  /// Totals of a stage's actors; index the trainer's with one past the last stage.
  ActorTotals totals(std::size_t stage) const { return pools_[stage]->stats().totals; }
  /// Returns the sums over completions since the last call.
  StageObservation take_sums(std::size_t stage) { return sums_[stage].take(); }
  /// The first error: the system could not start a thread.
  std::optional<Error> failure() const;

 private:
  class Actor;
  using Pool = StagePool<Split>;

  std::unique_ptr<Pool> make_pool(std::size_t stage, const std::string& name, std::size_t splits);
  std::size_t bytes_before(std::size_t stage) const;
  void fail_with(const Error& error);

  const Options options_;
  const std::size_t trainer_;  // the trainer's stage number: one past the last stage
  std::vector<std::uint64_t> bytes_of_split_;  // in the mailbox of each pool
  std::vector<WorkSums> sums_;
  std::vector<std::atomic<double>> last_taken_;  // when a split was last taken from each mailbox
  std::vector<std::unique_ptr<Pool>> pools_;
  std::atomic<std::uint64_t> next_split_{0};
  Synchronized<> serial_;  // guards the members below
  Allocation asked_;
  std::optional<Error> failure_;
};

}  // namespace forebay::tuner
