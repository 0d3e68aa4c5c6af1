#include "core/runtime/block_pool.h"

#include <set>
#include <thread>
#include <vector>

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("a cache hands out distinct blocks, and hands out returned blocks again",
          "[core][envelope]") {
  BlockPool pool;
  BlockCache cache(pool);
  std::set<void*> out;
  for (std::size_t i = 0; i < 5 * BlockPool::kChunk; ++i) out.insert(cache.take(1));
  REQUIRE(out.size() == 5 * BlockPool::kChunk);
  for (void* block : out) cache.give(1, block);
  std::set<void*> again;
  for (std::size_t i = 0; i < 5 * BlockPool::kChunk; ++i) again.insert(cache.take(1));
  CHECK(again == out);
  for (void* block : again) cache.give(1, block);
}

TEST_CASE("blocks taken on one thread and given back on another come back in chunks",
          "[core][envelope]") {
  constexpr std::size_t kBlocks = 6 * BlockPool::kChunk;
  BlockPool pool;
  std::set<void*> blocks;
  BlockCache taker(pool);
  for (std::size_t i = 0; i < kBlocks; ++i) blocks.insert(taker.take(0));
  std::thread([&] {
    BlockCache giver(pool);
    for (void* block : blocks) giver.give(0, block);
  }).join();
  // The giver's last chunk was full but not handed on yet, so it was freed.
  std::size_t reused = 0;
  std::vector<void*> taken;
  for (std::size_t i = 0; i < kBlocks - BlockPool::kChunk; ++i) {
    taken.push_back(taker.take(0));
    reused += blocks.count(taken.back());
  }
  CHECK(reused == kBlocks - BlockPool::kChunk);
  for (void* block : taken) taker.give(0, block);
}

TEST_CASE("a pool keeps no more than its bound", "[core][envelope]") {
  BlockPool pool;
  std::vector<void*> taken;
  BlockCache cache(pool);
  for (std::size_t i = 0; i < (BlockPool::kMostKept + 10) * BlockPool::kChunk; ++i) {
    taken.push_back(cache.take(2));
  }
  for (void* block : taken) cache.give(2, block);
  std::size_t kept = 0;
  while (BlockPool::Block* chunk = pool.take_chunk(2)) {
    BlockPool::free_list(chunk);
    ++kept;
  }
  CHECK(kept == BlockPool::kMostKept);
}

}  // namespace
}  // namespace forebay
