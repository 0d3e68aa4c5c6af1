#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/input/file_system.h"
#include "core/base/result.h"

namespace forebay {

/// Files of this machine. Only regular files count: opening would wait on a FIFO and may act on a
/// device. An open file holds one descriptor; a file that is renamed over stays readable as it was.
class LocalFileSystem final : public FileSystem {
 public:
  Result<std::vector<FileInfo>> list(const std::string& pattern) const override;
  Result<FileInfo> stat(const std::string& path) const override;
  Result<std::unique_ptr<const InputFile>> open(const std::string& path) const override;
};

/// LocalFileSystem::open, for files that Forebay itself wrote and reads back.
Result<std::unique_ptr<const InputFile>> open_local_file(const std::string& path);

/// The paths that `pattern` stands for, as LocalFileSystem::list() finds them, whatever they are.
std::vector<std::string> matching_local_paths(const std::string& pattern);

/// `path` with why the system refused it, from errno.
std::string system_refusal(const std::string& path, const char* what);

}  // namespace forebay
