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

/// Reads the blocks of splits from a dataset's files and checks their content against the index.
///
/// Owns one load actor's descriptors, at most kMostOpen of them; belongs to that actor's thread.
/// Returns an error that names the file if the file cannot be read or has changed since it was
/// indexed: its size or time differs (checked before each read), or the CRC-32C of a block's bytes
/// does, computed while the bytes are in the cache (changed_block.h).
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
