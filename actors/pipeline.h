#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/epoch_order.h"
#include "actors/format/format.h"
#include "actors/order_spec.h"
#include "actors/pipeline_spec.h"
#include "actors/sizing.h"
#include "actors/source/dataset.h"
#include "actors/split_dispatch.h"
#include "actors/split_history.h"
#include "actors/stage/stage_pools.h"
#include "actors/transform/transform.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/buffer_pool.h"

namespace forebay {

/// The whole pipeline at one moment.
struct PipelineStats {
  std::vector<StageStats> stages;  ///< load, decode, shuffle, transform, batch
  std::size_t prefetch_bytes = 0;
  std::size_t prefetch_budget = 0;
  std::size_t prefetch_batches = 0;
  std::uint64_t prefetch_full = 0;   ///< How often a batch found no room,
  std::uint64_t prefetch_empty = 0;  ///< and the trainer none.
  std::size_t window_bytes = 0;
  std::size_t window_capacity = 0;
  std::uint64_t splits_issued = 0;
  std::uint64_t lowest_missing = 0;  ///< The reorder buffer waits for this split; over epochs.
};

/// Runs the stages over a dataset and gives out its batches.
///
/// Owns the pools and their threads. next() belongs to one thread, everything else may be called
/// from any. What Options refers to must outlive it. The destructor stops and joins; a
/// worker stuck in a user's function delays it. Sets the limit of the buffers' budget to its share.
class Pipeline final : public BatchSource {
 public:
  struct Options {
    const Dataset& dataset;
    const TransformPlan& plan;
    OrderSpec order;
    Allocation allocation;
    MemoryPlan memory;
    DecodeOptions decode;
    Position start;
    BufferPool& buffers;
    const Clock& clock;
    /// Damaged rows as they are met, in order, each once; an error ends the run. Called on the
    /// batch actor's thread.
    std::function<Status(const std::vector<BadRow>&)> on_damaged;
    /// Each batch before it can be taken, in order; may be empty. Called on the batch actor's
    /// thread: whoever wants to know early what will come.
    std::function<void(const std::shared_ptr<const Batch>&)> on_batch = {};
    /// Where splits are made when not all are made here; null: all are.
    SplitDispatch* dispatch = nullptr;
    /// With a dispatch: whether this node's stages have actors at all.
    bool makes_splits = true;
  };

  explicit Pipeline(Options options);
  ~Pipeline() override;
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  Result<std::shared_ptr<const Batch>> next() override;

  /// Ends the run: next() gives nothing from now on, the actors stop after the split they hold.
  void stop();

  /// With a dispatch: lets this node's stages make a split that was issued.
  void make(std::uint64_t number);

  /// With a dispatch: whether this split was issued and has not come.
  bool expects(std::uint64_t number) const;

  /// With a dispatch: takes a split that was made elsewhere. False: it has come before, or was
  /// never issued; nothing happened. What it holds is counted under the room it was issued with.
  bool accept(std::uint64_t number, ColumnSet columns, std::vector<BadRow> bad,
              std::uint64_t filtered, SplitOrigin origin = {});

  /// With a dispatch: reads the blocks of all splits that were issued and have not come. kCorrupt
  /// when this node's own files are no longer those that were indexed, so that another node's
  /// failure to make them is no fault of its copy alone. Blocks while it reads; any thread.
  Status check_expected();

  /// How many splits other nodes may have in hand: widens the window as far as there is room.
  void set_elsewhere(std::uint64_t splits);

  /// Ends the run with an error, which next() gives.
  void end_with(const Error& error);

  /// Grows or shrinks a pool, live, between two splits; the window follows as far as there is room.
  /// kOverloaded when there is none for the threads; kInvalid below 1.
  Status resize(Stage stage, int actors);

  /// Changes the prefetch that is wanted, live; what is allowed follows as far as there is room.
  void set_prefetch(std::uint64_t bytes);

  /// Changes the room for buffers and threads, live: prefetch gives way first, then the window, and
  /// what is in use above goes as it is used up. Never below the least that it can run with.
  void set_room(std::uint64_t bytes);

  /// The actors asked for, those that are still to come or to go included.
  Allocation allocation() const;
  PipelineStats stats() const;

  /// The last splits that became batches, the oldest first.
  std::vector<PastSplit> history() const;

  /// What its splits and batches take.
  const MemorySizes& sizes() const;
  std::uint64_t splits_per_epoch() const;

  /// Whether the last batch of the last epoch has been made.
  bool ended() const;
  /// The position after everything; only once it has ended().
  Position end_position() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace forebay
