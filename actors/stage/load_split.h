#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "actors/format/raw_split.h"
#include "actors/source/dataset.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"

namespace forebay {

/// Reads the blocks of splits from a dataset's files and checks their content by the index.
///
/// Owns one load actor's descriptors, at most kMostOpen of them; belongs to that actor's thread.
/// Fails, naming the file, when it cannot be read or is no longer the one that was indexed: by its
/// size and time, asked before each read, or by the CRC-32C of each block's bytes, computed while
/// the cache holds them (changed_block.h).
class SplitReader {
 public:
  static constexpr std::size_t kMostOpen = 64;

  SplitReader(const Dataset& dataset, BufferPool& pool) : dataset_(dataset), pool_(pool) {}

  Result<RawSplit> read(std::vector<BlockRef> blocks);

 private:
  Status prepare(std::span<const BlockRef> blocks);
  Result<BlockSource*> source(std::uint32_t file);
  Status read_block(const BlockRef& block, std::span<char> out);

  const Dataset& dataset_;
  BufferPool& pool_;
  std::map<std::uint32_t, std::unique_ptr<BlockSource>> open_;
};

}  // namespace forebay
