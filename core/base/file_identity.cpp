#include "core/base/file_identity.h"

#include <sys/stat.h>

namespace forebay {

std::optional<FileIdentity> regular_file_at(const std::string& path) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  return FileIdentity{.device = static_cast<std::uint64_t>(about.st_dev),
                      .inode = static_cast<std::uint64_t>(about.st_ino)};
}

}  // namespace forebay
