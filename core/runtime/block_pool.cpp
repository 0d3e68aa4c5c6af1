#include "core/runtime/block_pool.h"

#include <new>
#include <utility>

#include "core/base/sanitizers.h"

namespace forebay {
namespace {

constexpr std::align_val_t kAlignment{BlockPool::kStep};

constexpr std::size_t size_of_class(std::size_t size_class) {
  return (size_class + 1) * BlockPool::kStep;
}

constexpr bool kPooled = !FOREBAY_ADDRESS_SANITIZER && !FOREBAY_THREAD_SANITIZER;

/// The pool is global like the heap, and holds no state that a program could observe. It is never
/// destroyed, because threads may return blocks after static objects are destroyed.
BlockCache& cache_of_thread() {
  alignas(BlockPool) static std::byte storage[sizeof(BlockPool)];
  static BlockPool& pool = *::new (storage) BlockPool;  // NOLINT: see above.
  thread_local BlockCache cache(pool);
  return cache;
}

}  // namespace

BlockPool::~BlockPool() {
  for (std::size_t size_class = 0; size_class < kClasses; ++size_class) {
    for (Block* chunk : chunks_[size_class]) free_list(chunk);
  }
}

BlockPool::Block* BlockPool::take_chunk(std::size_t size_class) {
  const std::lock_guard lock(mutex_);
  auto& chunks = chunks_[size_class];
  if (chunks.empty()) return nullptr;
  Block* chunk = chunks.back();
  chunks.pop_back();
  return chunk;
}

void BlockPool::give_chunk(std::size_t size_class, Block* chunk) {
  {
    const std::lock_guard lock(mutex_);
    auto& chunks = chunks_[size_class];
    if (chunks.size() < kMostKept) {
      chunks.push_back(chunk);
      return;
    }
  }
  free_list(chunk);
}

BlockPool::Block* BlockPool::make_block(std::size_t size_class) {
  void* memory = ::operator new(size_of_class(size_class), kAlignment);
  return ::new (memory) Block{nullptr};
}

void BlockPool::free_list(Block* list) {
  while (list != nullptr) {
    Block* block = std::exchange(list, list->next);
    ::operator delete(block, kAlignment);
  }
}

BlockCache::~BlockCache() {
  for (std::size_t size_class = 0; size_class < BlockPool::kClasses; ++size_class) {
    BlockPool::free_list(shelves_[size_class].blocks);
    if (Shelf& shelf = shelves_[size_class]; shelf.spare != nullptr) {
      pool_.give_chunk(size_class, shelf.spare);
    }
  }
}

void* BlockCache::take(std::size_t size_class) {
  Shelf& shelf = shelves_[size_class];
  if (shelf.blocks == nullptr) [[unlikely]] {
    refill(size_class, shelf);
  }
  --shelf.num_blocks;
  BlockPool::Block* taken = std::exchange(shelf.blocks, shelf.blocks->next);
  // Another core may have written the next one last: it comes while this one is used.
  __builtin_prefetch(shelf.blocks, 1);
  return taken;
}

void BlockCache::refill(std::size_t size_class, Shelf& shelf) {
  shelf.blocks = std::exchange(shelf.spare, nullptr);
  if (shelf.blocks == nullptr) shelf.blocks = pool_.take_chunk(size_class);
  shelf.num_blocks = BlockPool::kChunk;
  if (shelf.blocks == nullptr) {
    shelf.blocks = BlockPool::make_block(size_class);
    shelf.num_blocks = 1;
  }
}

void BlockCache::give(std::size_t size_class, void* memory) {
  Shelf& shelf = shelves_[size_class];
  if (shelf.num_blocks == BlockPool::kChunk) {
    if (shelf.spare != nullptr) pool_.give_chunk(size_class, shelf.spare);
    shelf.spare = std::exchange(shelf.blocks, nullptr);
    shelf.num_blocks = 0;
  }
  shelf.blocks = ::new (memory) BlockPool::Block{shelf.blocks};
  ++shelf.num_blocks;
}

void* take_block(std::size_t bytes) {
  const std::size_t size_class = (bytes - 1) / BlockPool::kStep;
  if (!kPooled || size_class >= BlockPool::kClasses) return ::operator new(bytes);
  return cache_of_thread().take(size_class);
}

void give_block(void* memory, std::size_t bytes) {
  const std::size_t size_class = (bytes - 1) / BlockPool::kStep;
  if (!kPooled || size_class >= BlockPool::kClasses) return ::operator delete(memory);
  cache_of_thread().give(size_class, memory);
}

}  // namespace forebay
