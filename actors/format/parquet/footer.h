#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/format/parquet/leaf.h"
#include "actors/format/parquet/page_codec.h"
#include "actors/input/file_system.h"
#include "core/base/result.h"
#include "core/data/digest.h"

namespace forebay::parquet {

/// Why the pages of a column chunk cannot be read although the file is sound.
enum class Unread : std::uint8_t { kNo, kElsewhere, kEncrypted, kCodec };

/// The pages of one column in one row group. All numbers are checked: the bytes lie inside the
/// file. They are 0 where the pages lie elsewhere or are encrypted.
struct Chunk {
  std::uint64_t offset = 0;  ///< Of its first page, which may be a dictionary.
  std::uint64_t bytes = 0;
  std::uint64_t uncompressed_bytes = 0;  ///< Page headers included; 0 where the writer left it out.
  std::uint64_t values = 0;              ///< Levels, nulls included; at least one a row.
  Codec codec = Codec::kNone;
  Unread unread = Unread::kNo;
  std::int32_t codec_number = 0;   ///< In parquet.thrift, of a codec that is unknown.
  std::uint64_t index_offset = 0;  ///< Of its offset index.
  std::uint32_t index_bytes = 0;   ///< 0: no index.
  std::uint64_t data_offset = 0;   ///< Of its first data page; 0: the footer does not say.
  std::uint32_t encodings = 0;     ///< A bit for each, by its number in parquet.thrift.

  /// The most bytes of a page once decompressed.
  std::uint32_t page_bytes() const {
    constexpr std::uint32_t kMost = std::uint32_t{1} << 31;  // pages' sizes are 32-bit numbers
    if (uncompressed_bytes == 0 || uncompressed_bytes > kMost) return kMost;
    return static_cast<std::uint32_t>(uncompressed_bytes);
  }
};

/// Returns what `Chunk::unread` says of a column, such as "lies in another file"; "" if it can be
/// read.
std::string why_unread(const Chunk& chunk);

/// Whether two chunks share bytes, as those of no sound file do.
bool overlap(std::vector<Chunk> chunks);

struct Group {
  std::uint64_t rows = 0;
  std::vector<Chunk> chunks;  ///< One a leaf, in the order of Footer::leaves.
};

/// What a file's footer says: its columns and where their pages lie.
struct Footer {
  std::vector<Leaf> leaves;
  std::vector<Group> groups;
  std::uint64_t rows = 0;
  std::string writer;  ///< The program that wrote the file; "": unknown.
  Digest digest;       ///< Of the footer's bytes.
};

/// Reads and checks the footer of `file`; a chunk that is Chunk::unread may be one that no reader
/// wants. kCorrupt for damage, kInvalid for a file that is no Parquet or is encrypted, kUnavailable
/// as read_at(); messages begin with the path.
Result<Footer> read_footer(const InputFile& file);

}  // namespace forebay::parquet
