#pragma once

#include <cstddef>

#include "actors/format/format.h"
#include "actors/source/dataset.h"
#include "actors/stage/load_split.h"
#include "actors/stage/split.h"
#include "actors/transform/transform.h"
#include "core/runtime/actor_pool.h"

namespace forebay {

/// The workers of the four pools. Each receives a split, calls its stage's pure function and
/// offers the result to the next pool, waiting there for room. Each belongs to one actor; what
/// it is given by reference outlives the pools.

class LoadWorker final : public PoolWorker<LoadTask> {
 public:
  LoadWorker(const Dataset& dataset, BufferPool& buffers, ActorPool<LoadedSplit>& next)
      : reader_(dataset, buffers), next_(next) {}
  Status on(LoadTask&& task, PoolContext& context) override;

 private:
  SplitReader reader_;
  ActorPool<LoadedSplit>& next_;
};

class DecodeWorker final : public PoolWorker<LoadedSplit> {
 public:
  DecodeWorker(const Format& format, const DecodeOptions& options, BufferPool& buffers,
               ActorPool<ColumnSplit>& next)
      : format_(format), options_(options), buffers_(buffers), next_(next) {}
  Status on(LoadedSplit&& split, PoolContext& context) override;

 private:
  const Format& format_;
  const DecodeOptions& options_;
  BufferPool& buffers_;
  ActorPool<ColumnSplit>& next_;
};

class ShuffleWorker final : public PoolWorker<ColumnSplit> {
 public:
  enum class Rows : std::uint8_t { kPermuted, kAsTheyStand };

  ShuffleWorker(Rows rows, BufferPool& buffers, ActorPool<ColumnSplit>& next)
      : rows_(rows), buffers_(buffers), next_(next) {}
  Status on(ColumnSplit&& split, PoolContext& context) override;

 private:
  const Rows rows_;
  BufferPool& buffers_;
  ActorPool<ColumnSplit>& next_;
};

class TransformWorker final : public PoolWorker<ColumnSplit> {
 public:
  TransformWorker(const TransformPlan& plan, const TransformContext& transform,
                  ActorPool<ColumnSplit>& next)
      : plan_(plan), transform_(transform), next_(next) {}
  Status on(ColumnSplit&& split, PoolContext& context) override;

 private:
  const TransformPlan& plan_;
  const TransformContext& transform_;
  ActorPool<ColumnSplit>& next_;
};

}  // namespace forebay
