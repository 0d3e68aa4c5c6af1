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
#include "core/runtime/pool/pool_stats.h"
#include "core/runtime/stage_pool.h"

namespace forebay {

/// The stages whose pools can grow and shrink.
enum class Stage : std::uint8_t { kLoad, kDecode, kShuffle, kTransform };
inline constexpr std::size_t kNumStages = 4;

/// The state of one stage; the counters are exact sums since the start.
struct StageStats {
  std::string name;
  PoolStats pool;
};

/// load → decode → shuffle → transform: the processing of a split on any node.
///
/// Owns the four pools and their threads; starts no thread until resize(). The objects that Options
/// refers to outlive it. Every method may be called from any thread; the destructor stops and
/// joins.
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

  /// Makes this split on the stages. Never waits: the issuer of splits bounds their number.
  void make(LoadTask task);

  /// Grows or shrinks a stage's pool, between two splits.
  void resize(Stage stage, std::size_t actors);

  /// Stops accepting splits; the actors end after the split they hold.
  void cancel();

  /// Number of live actors, including those that are stopping.
  std::uint64_t threads() const;

  /// One entry per stage, in order.
  std::vector<StageStats> stats() const;

 private:
  template <class Message, class Factory>
  typename StagePool<Message>::Options pool(const char* name, std::size_t mailbox_bytes,
                                            Factory factory);

  const Options options_;
  const std::vector<std::string> file_names_;
  const TransformContext transform_context_;

  // A worker offers splits to the pool declared above its own, so each pool is destroyed before the
  // pool it offers to.
  StagePool<ColumnSplit> transform_;
  StagePool<ColumnSplit> shuffle_;
  StagePool<LoadedSplit> decode_;
  StagePool<LoadTask> load_;
};

}  // namespace forebay
