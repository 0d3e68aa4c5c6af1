#pragma once

#include <cstddef>
#include <span>

#include "actors/format/raw_split.h"
#include "core/base/result.h"

namespace forebay {

/// Loads the blocks of one file. Belongs to one load actor and has its own open file; not
/// thread-safe.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  /// Reads `block` into `out`, which holds its loaded_bytes(), and returns the number of bytes that
  /// the block takes there. Checks the block's content as far as the format can. Errors are
  /// kCorrupt or kUnavailable; they name the file and the rows or bytes. A file that is not as it
  /// was indexed is kCorrupt, and the message says so.
  virtual Result<std::size_t> load(const BlockRef& block, std::span<char> out) = 0;
  /// Hint: `blocks` of this file will be loaded next, so a slow store can start to read them.
  virtual void prepare(std::span<const BlockRef> blocks) { static_cast<void>(blocks); }
};

}  // namespace forebay
