#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "actors/format/raw_split.h"
#include "core/base/result.h"

namespace forebay {

/// Reads byte ranges of one file's decompressed content. Belongs to one load actor and has its own
/// descriptor and inflate state; not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `out` from `offset`. Errors are kCorrupt or kUnavailable and name the file and offset. A
  /// file whose stamp differs from the indexed one is kCorrupt, and the message says so.
  virtual Status read(std::uint64_t offset, std::span<char> out) = 0;
  /// Returns the path of the file it reads: the dataset's file or a decompressed copy.
  virtual const std::string& path() const = 0;
  /// Like BlockSource::prepare().
  virtual void prepare(std::span<const BlockRef> blocks) { static_cast<void>(blocks); }
};

}  // namespace forebay
