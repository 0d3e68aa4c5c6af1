#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "actors/format/raw_split.h"
#include "actors/source/dataset.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"

namespace forebay {

/// Reads the blocks of splits from a dataset's files.
///
/// Owns one load actor's descriptors, at most kMostOpen of them; belongs to that actor's thread.
/// Fails, naming the file, when it cannot be read or is no longer the one that was indexed.
class SplitReader {
 public:
  static constexpr std::size_t kMostOpen = 64;

  SplitReader(const Dataset& dataset, BufferPool& pool) : dataset_(dataset), pool_(pool) {}

  Result<RawSplit> read(std::vector<BlockRef> blocks);

 private:
  Status prepare(std::span<const BlockRef> blocks);
  Result<BlockSource*> source(std::uint32_t file);

  const Dataset& dataset_;
  BufferPool& pool_;
  std::map<std::uint32_t, std::unique_ptr<BlockSource>> open_;
};

}  // namespace forebay
