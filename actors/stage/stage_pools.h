#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "actors/format/format.h"
#include "actors/source/dataset.h"
#include "actors/stage/split.h"
#include "actors/stage/split_sink.h"
#include "actors/stage/stage_workers.h"
#include "actors/transform/transform.h"
#include "core/base/clock.h"
#include "core/data/buffer_pool.h"
#include "core/runtime/pool_stats.h"
#include "core/runtime/stage_pool.h"

namespace forebay {

/// The stages whose pools can grow and shrink.
enum class Stage : std::uint8_t { kLoad, kDecode, kShuffle, kTransform };
inline constexpr std::size_t kNumStages = 4;

/// What one stage is doing; the counters are exact sums since the start.
struct StageStats {
  std::string name;
  PoolStats pool;
};

/// load → decode → shuffle → transform: what a node does with a split, wherever it runs.
///
/// Owns the four pools and their threads; starts none until resize(). What Options refers to
/// outlives it. Every method may be called from any thread; the destructor stops and joins.
class StagePools {
 public:
  struct Options {
    const Dataset& dataset;
    const TransformPlan& plan;
    DecodeOptions decode;
    std::uint64_t seed = 0;
    ShuffleWorker::Rows rows = ShuffleWorker::Rows::kPermuted;
    std::size_t mailbox_bytes = 0;  ///< Between two stages.
    BufferPool& buffers;
    const Clock& clock;
    SplitSink& sink;
    std::function<void(const Error&)> on_failure;  ///< On the failing actor's thread.
  };

  explicit StagePools(Options options);
  ~StagePools() { cancel(); }
  StagePools(const StagePools&) = delete;
  StagePools& operator=(const StagePools&) = delete;

  /// Lets the stages make this split. Never waits: who issues splits bounds how many there are.
  void make(LoadTask task);

  /// Grows or shrinks a stage's pool, between two splits.
  void resize(Stage stage, std::size_t actors);

  /// Takes no more; the actors end after the split they hold.
  void cancel();

  /// Actors alive, those told to go included.
  std::uint64_t threads() const;

  /// One entry a stage, in order.
  std::vector<StageStats> stats() const;

 private:
  template <class Message, class Factory>
  typename StagePool<Message>::Options pool(const char* name, std::size_t mailbox_bytes,
                                            Factory factory);

  const Options options_;
  const std::vector<std::string> file_names_;
  const TransformContext transform_context_;

  // A worker offers to the pool above it here, so pools go before those who feed them.
  StagePool<ColumnSplit> transform_;
  StagePool<ColumnSplit> shuffle_;
  StagePool<LoadedSplit> decode_;
  StagePool<LoadTask> load_;
};

}  // namespace forebay
