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

/// Reads the blocks of splits from a dataset's files.
///
/// Owns one load actor's descriptors, at most kMostOpen of them; belongs to that actor's thread.
/// Fails, naming the file, when it cannot be read or is no longer the one that was indexed.
class SplitReader {
 public:
  static constexpr std::size_t kMostOpen = 64;

  /// What is made sure of for each block; a file's size and time are, always.
  enum class Check : std::uint8_t {
    kStamp,    ///< Nothing more: whoever indexed the file reads it.
    kContent,  ///< That its bytes are those that were indexed, maybe on another machine.
  };

  SplitReader(const Dataset& dataset, Check check, BufferPool& pool)
      : dataset_(dataset), check_(check), pool_(pool) {}

  Result<RawSplit> read(std::vector<BlockRef> blocks);

 private:
  Status prepare(std::span<const BlockRef> blocks);
  Result<BlockSource*> source(std::uint32_t file);

  Status check(const BlockRef& block, std::span<const char> bytes) const;

  const Dataset& dataset_;
  const Check check_;
  BufferPool& pool_;
  std::map<std::uint32_t, std::unique_ptr<BlockSource>> open_;
};

}  // namespace forebay
