#pragma once

#include <cstdint>
#include <vector>

#include "actors/epoch_order.h"
#include "actors/format/format.h"
#include "actors/memory_shares.h"
#include "actors/order_spec.h"
#include "actors/pipeline_spec.h"
#include "actors/source/dataset.h"
#include "actors/transform/transform.h"
#include "core/base/result.h"

namespace forebay {

/// Computes the largest sizes of a job's splits and batches; pure functions of the job.
class Sizing {
 public:
  Sizing(const Dataset& dataset, const TransformPlan& plan, const OrderSpec& order);

  /// The most bytes that a split of these blocks holds at any stage.
  std::uint64_t split_cost(const std::vector<BlockRef>& blocks) const;
  /// `largest_split` bounds split_cost over all splits of all epochs; `usual_split` is the cost of
  /// a split of mean size.
  const MemorySizes& sizes() const { return sizes_; }

 private:
  std::uint64_t cost(std::uint64_t rows, std::uint64_t raw_bytes) const;

  const Format& format_;
  const TransformPlan& plan_;
  MemorySizes sizes_;
};

/// The memory of a run. All in bytes.
struct MemoryPlan {
  std::uint64_t room = 0;      ///< For buffers and the threads of actors.
  std::uint64_t prefetch = 0;  ///< Wanted: finished batches that may wait.
};

/// Subtracts from `spec.memory_bytes` the memory in use: `resident` (libraries, index, model) and
/// slack.
///
/// Returns kOverloaded, with the bytes needed, if not even one split and the batches that must
/// exist at the same time fit.
Result<MemoryPlan> plan_memory(const PipelineSpec& spec, const Sizing& sizing,
                               std::uint64_t resident);

}  // namespace forebay
