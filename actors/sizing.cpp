#include "actors/sizing.h"

#include <algorithm>
#include <string>

namespace forebay {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
/// Heap, page tables and library pages first touched later: what grows beside the buffers.
constexpr std::uint64_t kSlack = 24 * kMiB;
/// Touched stack and allocator arena of one actor's thread.
constexpr std::uint64_t kPerActor = 256 << 10;
constexpr std::uint64_t kMostPrefetchByDefault = 256 * kMiB;

/// What buffers of these bytes reserve: the pool rounds up by an eighth at the most, and each of
/// the few slabs to whole pages.
std::uint64_t reserved(std::uint64_t bytes) { return bytes + bytes / 8 + (16 << 10); }

std::string in_mib(std::uint64_t bytes) {
  return std::to_string((bytes + kMiB - 1) / kMiB) + " MiB";
}

}  // namespace

Sizing::Sizing(const Dataset& dataset, const TransformPlan& plan, const OrderSpec& order)
    : format_(dataset.format()), plan_(plan) {
  const EpochOrder splits(dataset, order);
  const std::uint64_t num_splits = splits.num_splits();
  const std::uint64_t mean_rows = dataset.rows() / num_splits + 1;
  usual_split_ = cost(mean_rows, dataset.bytes() / num_splits + 1);
  for (const EpochOrder::Extent& extent : splits.largest()) {
    largest_split_ = std::max(largest_split_, cost(extent.rows, extent.bytes));
  }
  largest_split_ = std::max(largest_split_, usual_split_);
  const Schema& schema = plan.output();
  const std::uint64_t row = sizeof(float) * (1 + schema.dense.size()) +
                            (sizeof(std::int32_t) + sizeof(std::int64_t)) * schema.sparse.size();
  const std::uint64_t rows = std::min<std::uint64_t>(order.batch_size, dataset.rows());
  batch_ = reserved(rows * row);
  cutting_ = batch_ + (rows / mean_rows + 2) * usual_split_ / 2;
}

std::uint64_t Sizing::cost(std::uint64_t rows, std::uint64_t raw_bytes) const {
  const std::uint64_t decoded = format_.decoded_bytes(rows, raw_bytes);
  const std::uint64_t while_decoding = raw_bytes + decoded;
  const std::uint64_t while_shuffling = 2 * decoded + rows * sizeof(std::uint32_t);
  const std::uint64_t while_transforming = plan_.peak_bytes(rows, decoded);
  return reserved(std::max({while_decoding, while_shuffling, while_transforming}));
}

std::uint64_t Sizing::split_cost(const std::vector<BlockRef>& blocks) const {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  for (const BlockRef& block : blocks) {
    rows += block.rows;
    bytes += block.bytes + 1;
  }
  return cost(rows, bytes);
}

Result<MemoryPlan> plan_memory(const PipelineSpec& spec, const Sizing& sizing,
                               std::uint64_t resident) {
  const std::uint64_t actors = static_cast<std::uint64_t>(spec.allocation.total()) + 2;
  const std::uint64_t fixed = resident + kSlack + actors * kPerActor;
  // One batch in the trainer's hands and one that waits, beside the one being cut.
  const std::uint64_t least = sizing.largest_split() + sizing.cutting() + 2 * sizing.batch();
  if (fixed + least > spec.memory_bytes) {
    return fail(Code::kOverloaded,
                "pipeline.memory = " + in_mib(spec.memory_bytes) +
                    " is too small: this job needs at least " + in_mib(fixed + least) + " (" +
                    in_mib(fixed) + " for the process, " + in_mib(sizing.largest_split()) +
                    " for one split, " + in_mib(sizing.cutting() + 2 * sizing.batch()) +
                    " for batches); raise it, or lower order.batch_size");
  }
  MemoryPlan plan;
  plan.buffers = spec.memory_bytes - fixed;
  std::uint64_t spare = plan.buffers - least;
  const std::uint64_t stages = 4;
  const std::uint64_t window_wanted = (actors + stages) * sizing.usual_split();
  const std::uint64_t prefetch_wanted =
      spec.prefetch_bytes > 0 ? spec.prefetch_bytes
                              : std::min(spec.memory_bytes / 8, kMostPrefetchByDefault);
  const std::uint64_t more_window = std::min(
      spare, window_wanted > sizing.largest_split() ? window_wanted - sizing.largest_split() : 0);
  plan.window = sizing.largest_split() + more_window;
  spare -= more_window;
  plan.prefetch =
      sizing.batch() +
      std::min(spare, prefetch_wanted > sizing.batch() ? prefetch_wanted - sizing.batch() : 0);
  return plan;
}

}  // namespace forebay
