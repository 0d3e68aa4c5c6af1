#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>

namespace forebay {

/// Tells where paths lead: absolute, through links, whether or not there is a file yet.
///
/// Remembers folders, so that the many files of one folder cost little. Belongs to one thread.
class PlaceFinder {
 public:
  /// Where writing to `path` would put a file.
  std::filesystem::path place_of(const std::string& path);
  /// The folder that holds the name `path` itself, which may be a link to elsewhere.
  std::filesystem::path folder_of(const std::string& path);

 private:
  std::unordered_map<std::string, std::filesystem::path> folders_;
};

/// Whether `place` is `folder` or lies below it; both as PlaceFinder gives them.
bool is_within(const std::filesystem::path& place, const std::filesystem::path& folder);

}  // namespace forebay
