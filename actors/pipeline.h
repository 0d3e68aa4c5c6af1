#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/epoch_order.h"
#include "actors/format/format.h"
#include "actors/pipeline_spec.h"
#include "actors/rank_share.h"
#include "actors/rank_walk.h"
#include "actors/sizing.h"
#include "actors/source/dataset.h"
#include "actors/source/row_counts.h"
#include "actors/split_issuer.h"
#include "actors/stage/split.h"
#include "actors/stage/stage_pools.h"
#include "actors/transform/transform.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/buffer_pool.h"
#include "core/runtime/pool/byte_queue.h"
#include "core/runtime/pool/pool_engine.h"
#include "core/runtime/stage_pool.h"
#include "core/runtime/synchronized.h"

namespace forebay {

/// A split that the reorder buffer has accepted. A value.
struct PastSplit {
  std::uint64_t number = 0;
  std::string node;  ///< The node that made it; empty: the trainer's own node.
  std::uint64_t rows = 0;
  SplitTimes times;
  SplitTimes::Span batch;  ///< Time in the reorder buffer, including waits for free prefetch bytes.
};

/// The last splits of a run, for `forebay trace`. Any thread.
class SplitHistory {
 public:
  static constexpr std::size_t kMost = 4096;

  void add(PastSplit split) {
    serial_([&] {
      if (splits_.size() == kMost) splits_.pop_front();
      splits_.push_back(std::move(split));
    });
  }
  /// Returns the splits, oldest first.
  std::vector<PastSplit> all() const {
    return serial_([this]() -> std::vector<PastSplit> { return {splits_.begin(), splits_.end()}; });
  }

 private:
  const Synchronized<> serial_{};
  std::deque<PastSplit> splits_;
};

/// Adds up what repeats in the splits of a run. Any thread.
class RepeatSum {
 public:
  void add(const std::vector<RepeatCount>& groups) {
    serial_([&] {
      groups_.resize(groups.size());
      for (std::size_t i = 0; i < groups.size(); ++i) groups_[i] += groups[i];
    });
  }
  std::vector<RepeatCount> all() const {
    return serial_([this] { return groups_; });
  }

 private:
  const Synchronized<> serial_{};
  std::vector<RepeatCount> groups_;
};

/// Decides where splits are made when the pipeline's own stages are not the only place.
class SplitDispatch {
 public:
  virtual ~SplitDispatch() = default;

  /// Split `number` may be made now, here (Pipeline::make) or on another node (Pipeline::accept):
  /// its window bytes are reserved. Called on the batch actor's thread, or on the thread that makes
  /// the pipeline.
  virtual void issued(std::uint64_t number) = 0;

  /// This pipeline's own stages finished the split, with `rows` rows, before any other node did;
  /// other nodes may stop making it. Called on a stage's thread.
  virtual void made_here(std::uint64_t number, std::uint64_t rows) = 0;
};

/// The state of the whole pipeline at one moment.
struct PipelineStats {
  std::vector<StageStats> stages;               ///< Those of the job, then batch.
  std::vector<std::uint32_t> actors_wanted;     ///< For each stage of the job.
  std::vector<std::vector<std::string>> fused;  ///< The names of stages that share their actors.
  std::size_t prefetch_bytes = 0;
  std::size_t prefetch_budget = 0;
  std::size_t prefetch_batches = 0;
  std::uint64_t prefetch_full = 0;   ///< Batches that had to wait for free prefetch bytes.
  std::uint64_t prefetch_empty = 0;  ///< Calls of next() that had to wait for a batch.
  std::size_t window_bytes = 0;
  std::size_t window_capacity = 0;
  std::size_t window_wanted = 0;  ///< The capacity with any amount of memory.
  std::uint64_t splits_issued = 0;
  std::uint64_t lowest_missing = 0;  ///< The reorder buffer waits for this split; over epochs.
  /// What repeated in each group of repeated columns of the splits that became batches.
  std::vector<RepeatCount> repeats;
};

/// Runs the stages over a dataset and produces its batches: gives the stages as many splits as fit
/// the window, the stages offer finished splits to the batch pool, and that pool's one actor fills
/// the queue of batches and reports which splits are used up.
///
/// Owns the pools and their threads. next() belongs to one thread; every other method may be called
/// from any thread. The objects that Options refers to must outlive the pipeline. The destructor
/// stops and joins the threads; an actor that is stuck in a user's function delays it. Sets the
/// limit of the buffers' budget to the buffers' share.
class Pipeline final : public BatchSource, StageOwner {
 public:
  struct Options {
    const Dataset& dataset;
    const TransformPlan& plan;
    OrderSpec order;
    std::vector<std::uint32_t> actors;  ///< For each stage, at the start; equal within a group.
    MemoryPlan memory;
    DecodeOptions decode;
    Position start;
    BufferPool& buffers;
    const Clock& clock;
    /// Receives damaged rows in the order in which they are found, each once; an error ends the
    /// run. Called on the batch actor's thread.
    std::function<Status(const std::vector<BadRow>&)> on_damaged;
    /// Receives each batch, in order, before next() can return it, so that the trainer can
    /// prefetch; may be empty. Called on the batch actor's thread.
    std::function<void(const std::shared_ptr<const Batch>&)> on_batch = {};
    /// Decides where splits are made if some are made on other nodes; null: all are made here.
    SplitDispatch* dispatch = nullptr;
    /// With a dispatch: whether this node's stages have actors.
    bool makes_splits = true;
    /// Which stages one actor does in one go.
    StageGroups groups = StageGroups::apart();
    /// The rank of a training whose rows the batches have, in exact order.
    RankShare share = {};
    /// Whether next() may return batches with Batch::lists_once.
    bool lists_once = false;
    /// The rows that remain of each block; needed if there are several ranks.
    const RowCounts* counts = nullptr;
    /// The threads that copy a large batch, the batch actor's included; see batch_threads().
    std::size_t batch_threads = 1;
    /// That the process may use; 0: unknown (StagePools::Options::cpus).
    double cpus = 0;
  };

  explicit Pipeline(Options options);
  ~Pipeline() override;
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  Result<std::shared_ptr<const Batch>> next() override;
  /// Blocks until next() would not block, at most for `most`. Returns whether it would not. On the
  /// thread of next().
  [[nodiscard]] bool wait(std::chrono::nanoseconds most) { return batches_.wait(most); }

  /// Ends the run: next() returns no batch from now on, and the actors stop after the split they
  /// hold.
  void stop();

  /// With a dispatch: makes an issued split on this node's stages.
  void make(std::uint64_t number);

  /// With a dispatch: whether split `number` was issued and has not arrived.
  bool expects(std::uint64_t number) const { return expected_.contains(number); }

  /// With a dispatch: takes a split that another node made, all parts of it, known by its number.
  /// Returns false and drops the split if it arrived before or was never issued. Its memory is
  /// counted under the window bytes that were reserved at issue.
  bool accept(std::vector<Split> parts);

  /// With a dispatch: reads the blocks of all splits that were issued and have not arrived. Returns
  /// kCorrupt if this node's own files changed since they were indexed; another node's failure to
  /// make these splits is then not a fault of that node's copy alone. Blocks while it reads; any
  /// thread.
  Status check_expected();

  /// Sets how many splits other nodes may hold; the window widens as far as free bytes allow.
  void set_elsewhere(std::uint64_t splits);

  /// Ends the run with `error`, which next() returns.
  void end_with(const Error& error) { batches_.fail(error); }

  /// The stages of this node, whose pools may be resized during the run: the window follows as far
  /// as free bytes allow. If this node makes no splits, they have no actors and get none.
  StagePools& stages() { return stages_; }
  const StagePools& stages() const { return stages_; }

  /// Changes the prefetch that is wanted during the run; the limit follows as far as free bytes
  /// allow.
  void set_prefetch(std::uint64_t bytes);

  /// Changes the memory for buffers and threads during the run. A smaller value reduces prefetch
  /// first, then the window; bytes in use above the new shares are returned as they are used up.
  /// Never goes below the least memory that the pipeline can run with.
  void set_room(std::uint64_t bytes);

  PipelineStats stats() const;

  /// The last splits that became batches, oldest first.
  std::vector<PastSplit> history() const { return history_.all(); }

  /// The largest sizes of the job's splits and batches.
  const MemorySizes& sizes() const { return sizing_.sizes(); }
  std::uint64_t splits_per_epoch() const { return order_.num_splits(); }
  /// The grains that a split mixes at most; 0 if the dataset's blocks are not grains.
  std::size_t strata() const { return options_.dataset.in_grains() ? order_.strata() : 0; }
  /// The parts in which split `number` is made; 1: it is made in one.
  std::size_t parts_of(std::uint64_t number) const;

  /// Whether the last batch of the last epoch has been made.
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  /// The position after the last batch. Requires ended().
  Position end_position() const;

 private:
  class BatchWorker;

  StagePools::Options stage_options();
  std::optional<RankWalk> rank_walk() const;
  void issue_what_fits(std::uint64_t lowest_missing);
  void used_up(const SplitId& id, bool is_last);
  void wake_up();
  Status put(Split&& split, PoolContext& context) override;
  bool takes(const SplitId& id, std::uint64_t rows) override;
  void failed(const Error& error) override { batches_.fail(error); }
  bool has_room_for(std::uint64_t threads, std::uint64_t children) const override;
  void resized() override { settle(); }
  void settle();

  const Options options_;
  const EpochOrder order_;
  const Sizing sizing_;
  MemoryBudget window_;
  ByteQueue<std::shared_ptr<const Batch>> batches_;
  SplitIssuer issuer_;
  const Synchronized<> settlements_{};
  std::atomic<std::uint64_t> room_;
  std::atomic<std::uint64_t> prefetch_;  // wanted
  std::atomic<std::uint64_t> elsewhere_{0};
  ExpectedSplits expected_;  // with a dispatch
  SplitHistory history_;
  RepeatSum repeats_;
  std::atomic<std::uint64_t> lowest_missing_{0};
  std::atomic<std::uint64_t> window_wanted_{0};
  std::atomic<std::uint64_t> waiting_for_lower_{0};  // window bytes of splits in the reorder buffer
  std::atomic<bool> ended_{false};
  Position end_;  // written before `ended_` is set

  StagePool<Split> batch_;
  StagePools stages_;
};

}  // namespace forebay
