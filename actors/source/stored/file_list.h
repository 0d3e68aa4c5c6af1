#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/input/file_system.h"
#include "core/base/result.h"

namespace forebay {

/// The compression of a stored file.
enum class Codec : std::uint8_t { kPlain, kGzip, kZstd };

/// Detects the codec by the file's first bytes (8 are enough), not by its name. kInvalid, naming
/// `path`, when the name ends in `.gz` or `.zst` and the bytes are of another format, and for the
/// magic of a format that Forebay does not read.
Result<Codec> detect_codec(const std::string& path, std::span<const char> head);

/// Returns `path` without a `.gz` or `.zst` at its end.
std::string without_codec_suffix(const std::string& path);

/// The limit of a file's decompressed bytes: a RowOrigin has 40 bits for the offset.
inline constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 40;

/// How many files of a store are opened at a time: each waits for an answer or two.
inline constexpr int kRemoteFilesAtOnce = 32;

/// A stored file of a dataset. Its index in the list is its file number.
struct ListedFile {
  std::string path;      ///< The path for open() and for messages.
  std::string absolute;  ///< Absolute, without `.` and `..`; the key of the index cache.
  std::string name;      ///< Relative to the common folder of all files, without `.gz`/`.zst`.
  Codec codec = Codec::kPlain;
  FileStamp stamp;
  std::shared_ptr<const FileSystem> file_system;  ///< The file system that holds it.

  Result<std::unique_ptr<const InputFile>> open() const { return file_system->open(path); }
  /// Opens the file; kCorrupt if it has changed since it was listed.
  Result<std::unique_ptr<const InputFile>> open_unchanged() const;
};

/// Whether a list's files may be compressed. Only text may be. kGrouped: no, and a file system's
/// view makes one file of several, so a list may name it several times.
enum class Packing : std::uint8_t { kByContent, kNone, kGrouped };

/// Expands the paths and globs of a dataset (relative to `base_dir`) in the file systems of
/// `systems`, in the given order. Sorts the matches of a glob bytewise by path without codec
/// suffix, so that compressed files have the order of plain files. kNotFound or kInvalid names a
/// path or glob that matches nothing, is not a regular file, cannot be read, is larger than 2⁴⁰
/// bytes, or occurs twice, under one name or through a link.
Result<std::vector<ListedFile>> list_files(const std::vector<std::string>& paths,
                                           const std::string& base_dir,
                                           const FileSystems& systems = {},
                                           Packing packing = Packing::kByContent);

/// Returns the first `bytes` decompressed bytes of a file, or all bytes of a shorter file.
Result<std::vector<char>> read_head(const ListedFile& listed, std::uint64_t bytes);

}  // namespace forebay
