#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>

namespace forebay {

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
