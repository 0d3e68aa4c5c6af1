#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "actors/format/bad_row.h"
#include "actors/format/raw_split.h"

namespace forebay {

/// Follows a decoder through the bytes of a split and maps each byte to its file and offset.
///
/// Borrows the split. Moves forward only; belongs to one call of `decode`.
class BlockCursor {
 public:
  explicit BlockCursor(const RawSplit& raw);

  /// Moves to the block that holds byte `at` of the split.
  void seek(std::size_t at) {
    while (at >= end_ && block_ + 1 < raw_.blocks.size()) step();
  }

  /// Of the block sought last:
  std::uint32_t file() const { return raw_.blocks[block_].file; }
  std::uint64_t offset(std::size_t at) const { return raw_.blocks[block_].offset + (at - begin_); }

  /// Seeks `at` and describes the damaged row of `size` bytes that starts there.
  BadRow bad_row(std::size_t at, std::size_t size, std::string reason);

 private:
  void step();

  const RawSplit& raw_;
  std::size_t block_ = 0;
  std::size_t begin_ = 0;  // The block's bytes in the split: [begin_, end_).
  std::size_t end_ = 0;
};

/// `text` in double quotes for a message: at most 40 bytes of it, unprintable ones as \xNN.
std::string quoted_text(std::string_view text);

}  // namespace forebay
