#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/runtime/stage_pool.h"
#include "core/runtime/synchronized.h"
#include "tuner/allocation.h"
#include "tuner/emulated/machine_thread.h"
#include "tuner/emulated/pipeline_accounting.h"
#include "tuner/emulated/split.h"
#include "tuner/emulated/work_sums.h"

namespace forebay::tuner {

/// A modelled pipeline's actors: a pool of the real runtime for each stage, and one of a single
/// actor, the trainer.
///
/// The queue behind a stage is the next pool's mailbox, in arrival order, bounded to as many
/// splits as the model says by bytes; the one before the trainer is the prefetch. The source is
/// the first mailbox: whoever takes a split of it puts the next one in its place. Starts without
/// actors. Any thread may call it, no actor of it may destroy it.
class EmulatedPipeline {
 public:
  struct Options {
    const PipelineModel& model;
    MachineThread& machine;
    const Clock& clock;
    /// Called after a split was taken or put out, on the actor's thread.
    std::function<void()> on_move = [] {};
    /// Called when the trainer asks and nothing is there.
    std::function<void()> on_empty = [] {};
  };

  explicit EmulatedPipeline(Options options);
  ~EmulatedPipeline();
  EmulatedPipeline(const EmulatedPipeline&) = delete;
  EmulatedPipeline& operator=(const EmulatedPipeline&) = delete;

  /// Grows and shrinks to it: first what shrinks.
  void apply(const Allocation& allocation);
  /// Lets everybody go after what they hold is let go of by the machine; see wait_until_gone().
  void cancel();
  /// After cancel() and the machine's stop(): until every thread has ended.
  void wait_until_gone();

  Census census() const;
  /// Actors asked for, by stage.
  std::vector<std::uint32_t> asked() const;
  /// The trainer's are behind those of the last stage.
  ActorTotals totals(std::size_t stage) const { return pools_[stage]->stats().totals; }
  /// The completions since the last call.
  StageObservation take_sums(std::size_t stage) { return sums_[stage].take(); }
  /// What went wrong first: a thread that the system did not have.
  std::optional<Error> failure() const;

 private:
  class Actor;
  using Pool = StagePool<Split>;

  std::unique_ptr<Pool> make_pool(std::size_t stage, const std::string& name, std::size_t splits);
  std::size_t bytes_before(std::size_t stage) const;
  void fail_with(const Error& error);

  const Options options_;
  const std::size_t trainer_;                  // its number: one past the last stage
  std::vector<std::uint64_t> bytes_of_split_;  // in the mailbox of each pool
  std::vector<WorkSums> sums_;
  std::vector<std::atomic<double>> last_taken_;  // when a split was taken from each mailbox
  std::vector<std::unique_ptr<Pool>> pools_;
  std::atomic<std::uint64_t> next_split_{0};
  Synchronized<> serial_;  // one at a time with those below
  Allocation asked_;
  std::optional<Error> failure_;
};

}  // namespace forebay::tuner
