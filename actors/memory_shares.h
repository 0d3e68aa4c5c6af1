#pragma once

#include <cstdint>

namespace forebay {

/// Heap, page tables and library pages first touched later: what grows beside the buffers.
inline constexpr std::uint64_t kMemorySlack = std::uint64_t{24} << 20;
/// Touched stack and allocator arena of one actor's thread.
inline constexpr std::uint64_t kThreadBytes = std::uint64_t{256} << 10;
/// Actors that no allocation counts: who cuts batches, and whoever watches.
inline constexpr std::uint64_t kOtherActors = 2;

/// What a job's splits and batches take at their largest, in bytes.
struct MemorySizes {
  std::uint64_t usual_split = 0;    ///< At the stage that takes most.
  std::uint64_t largest_split = 0;  ///< The same of the largest.
  std::uint64_t batch = 0;          ///< A finished batch.
  std::uint64_t cutting = 0;        ///< The batch being cut and the splits whose rows wait for it.
};

/// Who wants a share of the room, and what is still taken under earlier shares.
struct MemoryDemand {
  std::uint64_t actors = 0;         ///< Asked for, over all stages.
  std::uint64_t elsewhere = 0;      ///< Splits that other nodes may have in hand.
  std::uint64_t threads = 0;        ///< Alive: those told to go as well.
  std::uint64_t prefetch = 0;       ///< Wanted.
  std::uint64_t window_used = 0;    ///< Taken by splits on their way,
  std::uint64_t prefetch_used = 0;  ///< and by batches that wait.
};

/// How the room is divided at this moment. All in bytes.
struct MemoryShares {
  std::uint64_t buffers = 0;   ///< What the buffer pool may hold in all.
  std::uint64_t window = 0;    ///< Splits between their issue and the reorder buffer.
  std::uint64_t prefetch = 0;  ///< Finished batches that wait.
};

/// Wants room for a split an actor and some more, and for the prefetch asked for; gives up prefetch
/// first, then window, but never the least that a pipeline can run with. What is still taken under
/// earlier shares counts until it is given back, so that no share grows into it.
MemoryShares share_memory(std::uint64_t room, const MemorySizes& sizes, const MemoryDemand& demand);

/// What the threads of so many actors take, those of kOtherActors counted in.
std::uint64_t threads_bytes(std::uint64_t actors);

/// The window that keeps so many actors at work: a split each, one more a stage and two ready.
std::uint64_t window_for(std::uint64_t actors, const MemorySizes& sizes);

/// The least room with which a pipeline of so many threads can run.
std::uint64_t least_room(std::uint64_t threads, const MemorySizes& sizes);

}  // namespace forebay
