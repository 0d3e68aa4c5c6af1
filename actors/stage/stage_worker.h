#pragma once

#include <cstdint>
#include <memory>

#include "actors/format/format.h"
#include "actors/source/dataset.h"
#include "actors/stage/split.h"
#include "actors/stage_list.h"
#include "actors/transform/transform.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"

namespace forebay {

/// One actor's part in a stage: a pure function of a split. It knows nothing of pools, queues and
/// other actors, keeps its open files and scratch memory, and belongs to the actor's thread.
class StageWorker {
 public:
  virtual ~StageWorker() = default;

  /// Replaces the split's content by the stage's result.
  virtual Status run(Split& split) = 0;
};

/// What the workers of all stages share: the job, and the memory of splits. The objects outlive the
/// workers.
struct StageInputs {
  const Dataset& dataset;
  const TransformPlan& plan;
  DecodeOptions decode;
  std::uint64_t seed = 0;     ///< `order.seed`
  bool permutes_rows = true;  ///< Whether shuffle changes the order of a split's rows.
  BufferPool& buffers;
};

/// Makes a worker of `stage`. `inputs` and `transform` must outlive it.
std::unique_ptr<StageWorker> make_stage_worker(const StageInfo& stage, const StageInputs& inputs,
                                               const TransformContext& transform);

}  // namespace forebay
