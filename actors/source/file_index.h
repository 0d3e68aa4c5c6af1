#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/input/file_system.h"
#include "actors/source/block_builder.h"
#include "actors/source/codec.h"
#include "actors/source/restart_point.h"
#include "core/base/result.h"
#include "core/data/digest.h"

namespace forebay {

/// What one pass over a file found out.
struct FileIndex {
  std::string path;  ///< Absolute.
  FileStamp stamp;   ///< Of the file when it was read.
  Codec codec = Codec::kPlain;
  Digest settings;          ///< Of what in the job decides where rows start.
  Digest agreement;         ///< Of what the start of the file was found to fit.
  std::uint64_t bytes = 0;  ///< Decompressed.
  std::uint64_t rows = 0;
  Digest content;           ///< Of the decompressed bytes.
  std::uint32_t check = 0;  ///< CRC-32C of all of it: what follows the last block's.
  std::uint64_t slot_bytes = slot_rule::kFinest;
  std::vector<Block> blocks;
  std::vector<RestartPoint> points;  ///< Beside the one at the start.

  bool operator==(const FileIndex&) const = default;

  /// The most decompressed bytes between two neighbouring restart points (start and end count).
  std::uint64_t longest_span() const;
  /// Merges blocks until slots have `slot` bytes; a finer one changes nothing.
  void coarsen(std::uint64_t slot);
};

/// The index as bytes, little-endian; windows of restart points are not among them.
///
///   8 magic and version · 16 Digest of what follows, low half first · then numbers, each 8 bytes:
///   stored bytes, version of the stamp, codec, settings (2), agreement (2), bytes, rows, content
///   (2), check, slot, number of blocks, number of points, length of path · path · per block:
///   offset and line as the growth over the block before (of the line: beyond its rows), rows, all
///   LEB128, check in 4 bytes · per point: out and in as the growth over the point before, kind · 8
///   + bits, window_at, window_bytes as LEB128, then window_hash in 8 bytes.
std::vector<char> encode_index(const FileIndex& index);

/// Reads what encode_index wrote. kInvalid for an index of another version, kCorrupt for anything
/// else: every number is checked against the others, so that an index that is given can be used
/// without another look.
Result<FileIndex> parse_index(std::span<const char> bytes);

/// Whether an index of this version begins with these bytes (24 are enough); else as parse_index().
Status check_index_head(std::span<const char> bytes);

}  // namespace forebay
