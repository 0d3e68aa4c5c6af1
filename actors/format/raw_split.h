#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/buffer_pool.h"

namespace forebay {

/// A block, the smallest part of a dataset that the order moves: a run of whole rows of one file.
///
/// In text, a range of bytes of the decompressed file. In a format with units of its own
/// (UnitFormat), a unit.
struct BlockRef {
  std::uint32_t file = 0;
  std::uint32_t rows =
      0;  ///< As the index counted them; damaged rows included, blank CSV lines not.
  std::uint64_t offset = 0;        ///< Text: of its first byte. Unit: number of its first row.
  std::uint64_t bytes = 0;         ///< Text: its size. Unit: Unit::bytes.
  std::uint64_t line = 0;          ///< Text: number of its first line, from 1. Unit: its number.
  std::uint32_t check_before = 0;  ///< Text: CRC-32C of the file's content up to the block.
  std::uint32_t check_after = 0;   ///< Text: CRC-32C of the content up to the end of the block.
  std::uint64_t decoded = 0;       ///< Unit: the most bytes that it takes as columns. Text: 0.

  /// The most bytes that the block takes when loaded: a newline may be added to text.
  std::uint64_t loaded_bytes() const { return bytes + 1; }
};

/// The sums of some blocks.
struct Extent {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;    ///< When loaded.
  std::uint64_t decoded = 0;  ///< BlockRef::decoded.

  static Extent of(const BlockRef& block) {
    return {.rows = block.rows, .bytes = block.loaded_bytes(), .decoded = block.decoded};
  }
  static Extent of(const std::vector<BlockRef>& blocks);

  void add(const Extent& other);
  void add(const BlockRef& block) { add(of(block)); }
  /// Makes each sum at least as large as that of `other`.
  void raise_to(const Extent& other);
};

/// The undecoded bytes of a split: its blocks back to back, filling `bytes`.
///
/// Each block of text ends in '\n'. If the last row of a file has no newline, the loader has added
/// one; the block's size in `sizes` includes it and BlockRef::bytes does not.
struct RawSplit {
  Buffer bytes;
  std::vector<BlockRef> blocks;
  std::vector<std::size_t> sizes;  ///< Bytes of each block in `bytes`.
};

/// A row that could not be read, as the quarantine file names it.
struct BadRow {
  std::uint32_t file = 0;
  /// Text: of its first byte in the decompressed file. Other formats: its number in the file.
  std::uint64_t offset = 0;
  std::uint64_t line = 0;  ///< From 1. If there is a `group`: the row's number in it, from 0.
  std::string reason;      ///< E.g. `column I3: "x" is not an integer`.
  std::string text;        ///< At most kMaxText bytes of the row, unchanged.
  std::optional<std::uint64_t> group = std::nullopt;  ///< Number of its row group; none in text.

  static constexpr std::size_t kMaxText = 256;
};

/// Returns the `line` of the quarantine file: "7", or "row group 2, row 14".
std::string line_of(const BadRow& row);

/// Returns where a row is, for a message: "line 7 (byte 810)", or "row group 2, row 14".
std::string place_of(const BadRow& row);

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
