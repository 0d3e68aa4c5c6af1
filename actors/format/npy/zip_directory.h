#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/input/file_system.h"
#include "core/base/result.h"

namespace forebay::npy {

/// A file in a zip archive whose bytes lie there as they are.
struct StoredEntry {
  std::string name;
  std::uint64_t local_header = 0;  ///< Its offset; the bytes follow behind it.
  std::uint64_t bytes = 0;
};

/// Reads the directory at the end of a zip archive (PKWARE's APPNOTE 6.3, with Zip64) in one or two
/// reads, and checks that each number lies in the file. kCorrupt for a damaged directory; kInvalid
/// for an entry that is compressed or encrypted. Messages begin with the path.
Result<std::vector<StoredEntry>> read_zip_directory(const InputFile& file);

/// Bytes of a local header before its two texts of variable length.
inline constexpr std::size_t kLocalHeader = 30;

/// Returns the bytes of a local header with its texts, or 0 if they are not a local header. `start`
/// holds kLocalHeader bytes or more.
std::uint64_t local_header_bytes(std::span<const char> start);

}  // namespace forebay::npy
