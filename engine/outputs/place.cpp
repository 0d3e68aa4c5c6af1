#include "engine/outputs/place.h"

#include <sys/stat.h>

#include <algorithm>
#include <system_error>

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // the kernel's own limit

}  // namespace

std::optional<FileIdentity> regular_file_at(const std::string& path) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  return FileIdentity{.device = static_cast<std::uint64_t>(about.st_dev),
                      .inode = static_cast<std::uint64_t>(about.st_ino)};
}

fs::path PlaceFinder::folder_of(const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::absolute(path, error).parent_path();
  const auto known = folders_.find(folder.native());
  if (known != folders_.end()) return known->second;
  fs::path found = fs::weakly_canonical(folder, error);
  if (error) found = folder.lexically_normal();
  return folders_.emplace(folder.native(), std::move(found)).first->second;
}

fs::path PlaceFinder::place_of(const std::string& path) {
  std::error_code error;
  fs::path named = path;
  if (!named.has_filename()) named = named.parent_path();
  for (int links = 0; links < kMostLinks && fs::is_symlink(named, error); ++links) {
    const fs::path to = fs::read_symlink(named, error);
    if (error) break;
    named = named.parent_path() / to;
  }
  const fs::path name = named.filename();
  if (name == "." || name == "..") return fs::weakly_canonical(fs::absolute(named, error), error);
  return folder_of(named.string()) / name;
}

bool is_within(const fs::path& place, const fs::path& folder) {
  const auto ends = std::mismatch(folder.begin(), folder.end(), place.begin(), place.end());
  return ends.first == folder.end();
}

}  // namespace forebay
