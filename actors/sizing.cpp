#include "actors/sizing.h"

#include <algorithm>
#include <string>

namespace forebay {
namespace {

/// One split, the batch being cut, the batch that the trainer holds and one waiting batch.
std::uint64_t least_buffers(const MemorySizes& sizes) {
  return sizes.largest_split + sizes.cutting + 2 * sizes.batch;
}

std::uint64_t less(std::uint64_t whole, std::uint64_t part) {
  return whole > part ? whole - part : 0;
}

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kMostPrefetchByDefault = 256 * kMiB;

/// Bytes that the pool reserves for buffers of `bytes` in all: it rounds up by at most an eighth,
/// and each of the few slabs to whole pages.
std::uint64_t reserved(std::uint64_t bytes) { return bytes + bytes / 8 + (16 << 10); }

std::string in_mib(std::uint64_t bytes) {
  return std::to_string((bytes + kMiB - 1) / kMiB) + " MiB";
}

}  // namespace

std::uint64_t threads_bytes(std::uint64_t actors) { return (actors + kOtherActors) * kThreadBytes; }

std::uint64_t window_for(std::uint64_t actors, std::uint64_t stages, const MemorySizes& sizes) {
  return std::max((actors + 2 + stages) * sizes.usual_split, sizes.largest_split);
}

std::uint64_t least_room(std::uint64_t threads, const MemorySizes& sizes) {
  return threads_bytes(threads) + least_buffers(sizes);
}

MemoryShares share_memory(std::uint64_t room, const MemorySizes& sizes,
                          const MemoryDemand& demand) {
  const std::uint64_t threads = threads_bytes(demand.threads);
  MemoryShares shares;
  shares.buffers = std::max(room > threads ? room - threads : 0, least_buffers(sizes));
  // Bytes left beside the batch being cut and the batch that the trainer holds.
  const std::uint64_t both = shares.buffers - sizes.cutting - sizes.batch;
  const std::uint64_t window = std::min(
      window_for(demand.actors + demand.elsewhere, demand.stages, sizes), both - sizes.batch);
  const std::uint64_t prefetch =
      std::clamp(demand.prefetch, sizes.batch, std::max(both - window, sizes.batch));
  shares.window = std::max(sizes.largest_split,
                           std::min(window, less(both, std::max(prefetch, demand.prefetch_used))));
  shares.prefetch = std::max(
      sizes.batch, std::min(prefetch, less(both, std::max(shares.window, demand.window_used))));
  return shares;
}

Sizing::Sizing(const Dataset& dataset, const TransformPlan& plan, const OrderSpec& order)
    : format_(dataset.format()), plan_(plan) {
  const EpochOrder splits(dataset, order);
  const std::uint64_t num_splits = splits.num_splits();
  const std::uint64_t mean_rows = dataset.rows() / num_splits + 1;
  sizes_.usual_split = cost(mean_rows, dataset.bytes() / num_splits + 1);
  for (const Extent& extent : splits.largest()) {
    sizes_.largest_split = std::max(sizes_.largest_split, cost(extent.rows, extent.bytes));
  }
  sizes_.largest_split = std::max(sizes_.largest_split, sizes_.usual_split);
  const Schema& schema = plan.output();
  const std::uint64_t row = sizeof(float) * (1 + schema.dense.size()) +
                            (sizeof(std::int32_t) + sizeof(std::int64_t)) * schema.sparse.size();
  const std::uint64_t rows = std::min<std::uint64_t>(order.batch_size, dataset.rows());
  sizes_.batch = reserved(rows * row);
  sizes_.cutting = sizes_.batch + (rows / mean_rows + 2) * sizes_.usual_split / 2;
}

std::uint64_t Sizing::cost(std::uint64_t rows, std::uint64_t raw_bytes) const {
  const std::uint64_t decoded = format_.decoded_bytes(rows, raw_bytes);
  const std::uint64_t while_decoding = raw_bytes + decoded;
  const std::uint64_t while_shuffling = 2 * decoded + rows * sizeof(std::uint32_t);
  const std::uint64_t while_transforming = plan_.peak_bytes(rows, decoded);
  return reserved(std::max({while_decoding, while_shuffling, while_transforming}));
}

std::uint64_t Sizing::split_cost(const std::vector<BlockRef>& blocks) const {
  const Extent extent = Extent::of(blocks);
  return cost(extent.rows, extent.bytes);
}

Result<MemoryPlan> plan_memory(const PipelineSpec& spec, const Sizing& sizing,
                               std::uint64_t resident) {
  const std::uint64_t actors = spec.total_actors();
  const MemorySizes& sizes = sizing.sizes();
  const std::uint64_t threads = (actors + kOtherActors) * kThreadBytes;
  const std::uint64_t process = resident + kMemorySlack + threads;
  const std::uint64_t least = least_room(actors, sizes) - threads;
  if (process + least > spec.memory_bytes) {
    return fail(Code::kOverloaded,
                "pipeline.memory = " + in_mib(spec.memory_bytes) +
                    " is too small: this job needs at least " + in_mib(process + least) + " (" +
                    in_mib(process) + " for the process, " + in_mib(sizes.largest_split) +
                    " for one split, " + in_mib(sizes.cutting + 2 * sizes.batch) +
                    " for batches); raise it, or lower order.batch_size");
  }
  return MemoryPlan{.room = spec.memory_bytes - resident - kMemorySlack,
                    .prefetch = spec.prefetch_bytes > 0
                                    ? spec.prefetch_bytes
                                    : std::min(spec.memory_bytes / 8, kMostPrefetchByDefault)};
}

}  // namespace forebay
