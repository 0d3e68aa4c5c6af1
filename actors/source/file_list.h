#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/input/file_system.h"
#include "actors/input/file_systems.h"
#include "actors/source/codec.h"
#include "core/base/result.h"

namespace forebay {

/// A file's decompressed bytes at most, since a RowOrigin has 40 bits for the offset.
inline constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 40;

/// A file of a dataset as it is stored. Its place in the list is its file number.
struct ListedFile {
  std::string path;      ///< As it is opened and as messages name it.
  std::string absolute;  ///< Absolute and without `.` and `..`; what the index cache knows it by.
  std::string name;      ///< Relative to the folder that all files share, `.gz`/`.zst` taken off.
  Codec codec = Codec::kPlain;
  FileStamp stamp;
  std::shared_ptr<const FileSystem> file_system;  ///< Where it lies.

  Result<std::unique_ptr<const InputFile>> open() const { return file_system->open(path); }
};

/// Expands the paths and globs of a dataset (relative to `base_dir`) in the file systems of
/// `systems`, each in the order given; what a glob matches comes sorted bytewise by path without
/// codec suffix, so that packed files keep the order of plain ones. kNotFound or kInvalid names a
/// path or glob that matches nothing, is no regular file, cannot be read, is larger than 2⁴⁰ bytes
/// or comes twice, by one name or by a link.
Result<std::vector<ListedFile>> list_files(const std::vector<std::string>& paths,
                                           const std::string& base_dir,
                                           const FileSystems& systems = {});

/// Paths of the local files that a path or glob of a dataset stands for; empty where it matches
/// nothing.
std::vector<std::string> matching_paths(const std::string& path, const std::string& base_dir);

}  // namespace forebay
