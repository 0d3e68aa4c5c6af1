#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

namespace forebay {

/// Recycles the small blocks that envelopes live in, across threads: a message is made on the
/// sender's thread and dies on the receiver's, which is what a general allocator is worst at.
///
/// Owns the blocks handed back to it, kept by size and in chunks; a BlockCache, one a thread,
/// takes and gives whole chunks, so the mutex is met once in kChunk messages. Any thread.
class BlockPool {
 public:
  struct Block {
    Block* next;
  };

  static constexpr std::size_t kStep = 64;      ///< Sizes are multiples of it: a cache line.
  static constexpr std::size_t kClasses = 4;    ///< Larger blocks come from the system.
  static constexpr std::size_t kChunk = 64;     ///< Blocks that change hands at once.
  static constexpr std::size_t kMostKept = 64;  ///< Chunks of one size; the rest is freed.

  BlockPool() = default;
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// A list of kChunk blocks of `size_class`, or nothing.
  Block* take_chunk(std::size_t size_class);
  void give_chunk(std::size_t size_class, Block* chunk);

  static Block* make_block(std::size_t size_class);
  static void free_list(Block* list);

 private:
  std::mutex mutex_;
  std::array<std::vector<Block*>, kClasses> chunks_;  // under mutex_
};

/// One thread's blocks. Belongs to that thread; gives everything back when it dies.
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
    BlockPool::Block* spare = nullptr;  // a full chunk, or nothing
    std::size_t num_blocks = 0;         // of `blocks`
  };

  void refill(std::size_t size_class, Shelf& shelf);

  BlockPool& pool_;
  std::array<Shelf, BlockPool::kClasses> shelves_{};
};

/// Memory for an envelope, from the calling thread's cache of the process-wide pool; aligned
/// to 16 bytes. Under a sanitizer straight from the system, so that it sees every misuse.
void* take_block(std::size_t bytes);
void give_block(void* memory, std::size_t bytes);

}  // namespace forebay
