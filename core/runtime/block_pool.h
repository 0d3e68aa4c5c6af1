#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

namespace forebay {

/// Recycles the small memory blocks of envelopes across threads. A message is created on the
/// sender's thread and destroyed on the receiver's, which is the worst case for a general
/// allocator.
///
/// Owns the returned blocks, in chunks by size. Each thread's BlockCache takes and returns whole
/// chunks, so it locks the mutex once in kChunk messages. Thread-safe.
class BlockPool {
 public:
  struct Block {
    Block* next;
  };

  static constexpr std::size_t kStep = 64;      ///< Block sizes are multiples of a cache line.
  static constexpr std::size_t kClasses = 4;    ///< Larger blocks are allocated from the system.
  static constexpr std::size_t kChunk = 64;     ///< Blocks that are moved at once.
  static constexpr std::size_t kMostKept = 64;  ///< Chunks kept of one size; others are freed.

  BlockPool() = default;
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// Returns a list of kChunk blocks of `size_class`, or null.
  Block* take_chunk(std::size_t size_class);
  void give_chunk(std::size_t size_class, Block* chunk);

  static Block* make_block(std::size_t size_class);
  static void free_list(Block* list);

 private:
  std::mutex mutex_;
  std::array<std::vector<Block*>, kClasses> chunks_;  // under mutex_
};

/// The blocks of one thread. Belongs to that thread; its destructor returns all blocks to the pool.
class BlockCache {
 public:
  explicit BlockCache(BlockPool& pool) : pool_(pool) {}
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  void* take(std::size_t size_class);
  void give(std::size_t size_class, void* memory);

 private:
  struct Shelf {
    BlockPool::Block* blocks = nullptr;
    BlockPool::Block* spare = nullptr;  // a full chunk, or null
    std::size_t num_blocks = 0;         // of `blocks`
  };

  void refill(std::size_t size_class, Shelf& shelf);

  BlockPool& pool_;
  std::array<Shelf, BlockPool::kClasses> shelves_{};
};

/// Allocates memory for an envelope from the calling thread's cache; aligned to 16 bytes. Under a
/// sanitizer it allocates from the system, so that the sanitizer detects every misuse.
void* take_block(std::size_t bytes);
void give_block(void* memory, std::size_t bytes);

}  // namespace forebay
