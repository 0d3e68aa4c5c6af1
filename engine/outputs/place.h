#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>

namespace forebay {

/// Device and inode: the same for every name and link of a file on this machine, and different for
/// two files that exist at the same time.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  auto operator<=>(const FileIdentity&) const = default;
};

/// The identity of the regular file that `path` leads to, through links. Nothing for a device, a
/// pipe or a folder, and when the file does not exist.
std::optional<FileIdentity> regular_file_at(const std::string& path);

/// Resolves paths to absolute ones through all links, whether or not the file exists.
///
/// Caches folders, so that many files in one folder cost little. Belongs to one thread.
class PlaceFinder {
 public:
  /// Returns where a file written to `path` would be.
  std::filesystem::path place_of(const std::string& path);
  /// Returns the folder that contains the entry `path` itself, which may be a link.
  std::filesystem::path folder_of(const std::string& path);

 private:
  std::unordered_map<std::string, std::filesystem::path> folders_;
};

/// Returns whether `place` is `folder` or is below it; both must come from PlaceFinder.
bool is_within(const std::filesystem::path& place, const std::filesystem::path& folder);

}  // namespace forebay
