#include "actors/memory_shares.h"

#include <algorithm>

namespace forebay {
namespace {

/// One split, the batch being cut, the batch that the trainer holds and one waiting batch.
std::uint64_t least_buffers(const MemorySizes& sizes) {
  return sizes.largest_split + sizes.cutting + 2 * sizes.batch;
}

std::uint64_t less(std::uint64_t whole, std::uint64_t part) {
  return whole > part ? whole - part : 0;
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

}  // namespace forebay
