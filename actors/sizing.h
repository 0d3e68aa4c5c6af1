#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "actors/epoch_order.h"
#include "actors/format/format.h"
#include "actors/order_spec.h"
#include "actors/pipeline_spec.h"
#include "actors/source/dataset.h"
#include "actors/transform/transform.h"
#include "core/base/result.h"

namespace forebay {

/// What the splits and batches of a job take at their largest; pure functions of the job.
class Sizing {
 public:
  Sizing(const Dataset& dataset, const TransformPlan& plan, const OrderSpec& order);

  /// The most bytes that a split of these blocks holds at any stage.
  std::uint64_t split_cost(const std::vector<BlockRef>& blocks) const;
  /// A bound on split_cost over all splits of all epochs.
  std::uint64_t largest_split() const { return largest_split_; }
  /// split_cost of a split of mean size.
  std::uint64_t usual_split() const { return usual_split_; }
  /// A finished batch.
  std::uint64_t batch() const { return batch_; }
  /// The batch being cut and the splits whose rows wait for it.
  std::uint64_t cutting() const { return cutting_; }

 private:
  std::uint64_t cost(std::uint64_t rows, std::uint64_t raw_bytes) const;

  const Format& format_;
  const TransformPlan& plan_;
  std::uint64_t largest_split_ = 0;
  std::uint64_t usual_split_ = 0;
  std::uint64_t batch_ = 0;
  std::uint64_t cutting_ = 0;
};

/// How the memory of a run is divided. All in bytes.
struct MemoryPlan {
  std::uint64_t buffers = 0;   ///< What the buffer pool may hold in all.
  std::uint64_t window = 0;    ///< Splits between their issue and the batcher.
  std::uint64_t prefetch = 0;  ///< Finished batches that wait.
};

/// Divides `spec.memory_bytes`, of which `resident` are taken already (libraries, index, model).
///
/// Wants room for a split an actor and one more a stage, and for the prefetch asked for; gives
/// up prefetch first, then window. kOverloaded says how much is needed when not even one split
/// and the batches that must exist at once fit.
Result<MemoryPlan> plan_memory(const PipelineSpec& spec, const Sizing& sizing,
                               std::uint64_t resident);

}  // namespace forebay
