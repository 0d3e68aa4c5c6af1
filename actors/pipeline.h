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
#include "actors/transform/transform.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/buffer_pool.h"
#include "core/runtime/pool_stats.h"

namespace forebay {

/// The stages whose pools can grow and shrink.
enum class Stage : std::uint8_t { kLoad, kDecode, kShuffle, kTransform };
inline constexpr std::size_t kNumStages = 4;

/// What one stage is doing; the counters are exact sums since the start.
struct StageStats {
  std::string name;
  PoolStats pool;
};

/// The whole pipeline at one moment.
struct PipelineStats {
  std::vector<StageStats> stages;  ///< load, decode, shuffle, transform, batch
  std::size_t prefetch_bytes = 0;
  std::size_t prefetch_budget = 0;
  std::size_t prefetch_batches = 0;
  std::size_t window_bytes = 0;
  std::size_t window_capacity = 0;
  std::uint64_t splits_issued = 0;
  std::uint64_t lowest_missing = 0;  ///< The split that the batcher waits for, counted over epochs.
};

/// Runs the stages over a dataset and gives out its batches.
///
/// Owns the pools and their threads. next() belongs to one thread, everything else may be called
/// from any. What Options refers to must outlive it. The destructor stops and joins; a
/// worker stuck in a user's function delays it.
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
  };

  explicit Pipeline(Options options);
  ~Pipeline() override;
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  Result<std::shared_ptr<const Batch>> next() override;

  /// Ends the run: next() gives nothing from now on, the actors stop after the split they hold.
  void stop();

  /// Grows or shrinks a pool, live, between two splits. kOverloaded when memory has no room for
  /// another actor's working set; kInvalid below 1.
  Status resize(Stage stage, int actors);

  /// Changes the prefetch budget, live. kOverloaded when memory has no room for it.
  Status set_prefetch(std::uint64_t bytes);

  /// The actors asked for, those that are still to come or to go included.
  Allocation allocation() const;
  PipelineStats stats() const;

  /// Whether the last batch of the last epoch has been made.
  bool ended() const;
  /// The position after everything; only once it has ended().
  Position end_position() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace forebay
