#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/format/format.h"
#include "actors/input/file_system.h"
#include "actors/source/index/block_builder.h"
#include "actors/source/stored/byte_stream.h"
#include "actors/source/stored/file_list.h"
#include "core/base/result.h"
#include "core/data/digest.h"

namespace forebay {

/// The results of one pass over a file, or over its metadata if its format has units of its own.
struct FileIndex {
  static constexpr std::uint64_t kNoSlots = 0;  ///< As slot_bytes: the file is cut into units.

  std::string path;  ///< Absolute.
  FileStamp stamp;   ///< Of the file at the time of the pass.
  Codec codec = Codec::kPlain;
  Digest settings;          ///< Of the job's settings that decide where rows start.
  Digest agreement;         ///< Of the format that the file's start was found to fit.
  std::uint64_t bytes = 0;  ///< Decompressed.
  std::uint64_t rows = 0;
  Digest content;           ///< Of the decompressed bytes; of units, UnitFile::content().
  std::uint32_t check = 0;  ///< CRC-32C of all decompressed bytes: Block::check after the last.
  std::uint64_t slot_bytes = slot_rule::kFinest;
  std::vector<Block> blocks;
  std::vector<RestartPoint> points;  ///< Without the implicit point at the file's start.
  std::vector<Unit> units = {};      ///< Instead of blocks, if slot_bytes is kNoSlots.

  bool operator==(const FileIndex&) const = default;

  bool has_units() const { return slot_bytes == kNoSlots; }
  /// Returns the number of blocks or units.
  std::size_t num_blocks() const { return has_units() ? units.size() : blocks.size(); }
  /// Returns the bytes that all blocks or units take when they are loaded.
  std::uint64_t loaded_bytes() const;

  /// Returns the largest number of decompressed bytes between two neighbouring restart points; the
  /// file's start and end count as points.
  std::uint64_t longest_span() const;
  /// Merges blocks to slots of `slot` bytes. No effect if slots are already that large, and on
  /// units.
  void coarsen(std::uint64_t slot);
};

/// Encodes the index, little-endian, without the windows of restart points.
///
///   8 magic and version · 16 Digest of the rest, low half first · then numbers, each 8 bytes:
///   stored bytes, version of the stamp, codec, settings (2 numbers), agreement (2), bytes, rows,
///   content (2), check, slot, number of blocks, number of points, length of path · path · per
///   block: offset as the difference from the previous block, line as the difference from the
///   previous block's line + rows, rows, all LEB128, check in 4 bytes · per point: out and in as
///   differences from the previous point, kind · 8 + bits, window_at, window_bytes, all LEB128,
///   window_hash in 8 bytes.
///
/// With units, the slot is 0, the number of blocks is that of units, and per unit, instead of
/// blocks: rows, bytes, decoded bytes, all LEB128.
std::vector<char> encode_index(const FileIndex& index);

/// Parses the output of encode_index(). kInvalid for an index of another version, kCorrupt for any
/// other bytes. Checks every number against the others, so callers can use the returned index
/// without further checks.
Result<FileIndex> parse_index(std::span<const char> bytes);

/// Checks that an index of this version begins with `bytes` (24 are enough); fails
/// like parse_index().
Status check_index_head(std::span<const char> bytes);

}  // namespace forebay
