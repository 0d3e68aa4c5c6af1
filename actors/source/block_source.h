#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "actors/format/raw_split.h"
#include "core/base/result.h"

namespace forebay {

/// Reads byte ranges of one file's decompressed content. Belongs to one load actor (its own
/// descriptor and inflate state); not thread-safe.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  /// Fills `out` from `offset`. kCorrupt or kUnavailable names the file and offset; a file that is
  /// no longer the one that was indexed (by its stamp) is kCorrupt and says so.
  virtual Status read(std::uint64_t offset, std::span<char> out) = 0;
  /// The file that it reads: the dataset's own, or a decompressed copy of it.
  virtual const std::string& path() const = 0;
  /// Says which blocks of this file will be read next, so that a slow disk can start on them.
  virtual void prepare(std::span<const BlockRef> blocks) { static_cast<void>(blocks); }
};

}  // namespace forebay
