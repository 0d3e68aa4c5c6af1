#pragma once

#include <cstddef>

#include "actors/format/format.h"
#include "actors/source/dataset.h"
#include "actors/stage/load_split.h"
#include "actors/stage/split.h"
#include "actors/stage/split_sink.h"
#include "actors/transform/transform.h"
#include "core/base/clock.h"
#include "core/runtime/stage_pool.h"

namespace forebay {

/// The workers of the four pools. Each receives a split, calls its stage's pure function and offers
/// the result to the next pool or the sink, where it waits for free bytes. Each belongs to one
/// actor; the objects passed by reference outlive the pools.

class LoadWorker final : public PoolWorker<LoadTask> {
 public:
  LoadWorker(const Dataset& dataset, BufferPool& buffers, StagePool<LoadedSplit>& next,
             const Clock& clock)
      : reader_(dataset, buffers), next_(next), clock_(clock) {}
  Status on(LoadTask&& task, PoolContext& context) override;

 private:
  SplitReader reader_;
  StagePool<LoadedSplit>& next_;
  const Clock& clock_;
};

class DecodeWorker final : public PoolWorker<LoadedSplit> {
 public:
  DecodeWorker(const Dataset& dataset, const DecodeOptions& options, BufferPool& buffers,
               StagePool<ColumnSplit>& next, const Clock& clock)
      : dataset_(dataset), options_(options), buffers_(buffers), next_(next), clock_(clock) {}
  Status on(LoadedSplit&& split, PoolContext& context) override;

 private:
  const Dataset& dataset_;
  const DecodeOptions& options_;
  BufferPool& buffers_;
  StagePool<ColumnSplit>& next_;
  const Clock& clock_;
};

class ShuffleWorker final : public PoolWorker<ColumnSplit> {
 public:
  enum class Rows : std::uint8_t { kPermuted, kAsTheyStand };

  ShuffleWorker(Rows rows, BufferPool& buffers, StagePool<ColumnSplit>& next, const Clock& clock)
      : rows_(rows), buffers_(buffers), next_(next), clock_(clock) {}
  Status on(ColumnSplit&& split, PoolContext& context) override;

 private:
  const Rows rows_;
  BufferPool& buffers_;
  StagePool<ColumnSplit>& next_;
  const Clock& clock_;
};

class TransformWorker final : public PoolWorker<ColumnSplit> {
 public:
  TransformWorker(const TransformPlan& plan, const TransformContext& transform, SplitSink& next,
                  const Clock& clock)
      : plan_(plan), transform_(transform), next_(next), clock_(clock) {}
  Status on(ColumnSplit&& split, PoolContext& context) override;

 private:
  const TransformPlan& plan_;
  const TransformContext& transform_;
  SplitSink& next_;
  const Clock& clock_;
};

}  // namespace forebay
