#include "core/base/file_identity.h"

#include <sys/stat.h>

namespace forebay {
namespace {

FileIdentity identity(const struct stat& about) {
  return {.device = static_cast<std::uint64_t>(about.st_dev),
          .inode = static_cast<std::uint64_t>(about.st_ino)};
}

}  // namespace

std::optional<FileIdentity> regular_file_at(const std::string& path) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  return identity(about);
}

std::optional<FileIdentity> identity_of(int descriptor) {
  struct stat about = {};
  if (::fstat(descriptor, &about) != 0) return std::nullopt;
  return identity(about);
}

}  // namespace forebay
