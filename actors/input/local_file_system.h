#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/input/file_system.h"
#include "core/base/result.h"

namespace forebay {

/// The files of this machine. Accepts only regular files: opening a FIFO would block, and opening a
/// device may have side effects. An open file holds one descriptor. When another file is renamed
/// over it, the open file keeps its old content.
class LocalFileSystem final : public FileSystem {
 public:
  /// Counts reads into `counts`, if any.
  explicit LocalFileSystem(std::shared_ptr<IoCounts> counts = nullptr)
      : counts_(std::move(counts)) {}

  Result<std::vector<FileInfo>> list(const std::string& pattern) const override;
  Result<FileInfo> stat(const std::string& path) const override;
  Result<std::unique_ptr<const InputFile>> open(const std::string& path) const override;
  std::vector<std::string> local_paths(const std::string& pattern) const override;

 private:
  std::shared_ptr<IoCounts> counts_;
};

/// Like LocalFileSystem::open(), for files that Forebay itself wrote.
Result<std::unique_ptr<const InputFile>> open_local_file(const std::string& path);

/// Returns "`path` `what`: reason", with the reason from errno.
std::string system_refusal(const std::string& path, const char* what);

}  // namespace forebay
