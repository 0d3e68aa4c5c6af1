#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/input/file_system.h"

namespace forebay {

/// The table that selects the file system for a path. A value type; copies share the file systems.
/// Any thread may call const functions.
class FileSystems {
 public:
  /// Builds the table of the built-in file systems (file_systems.cpp).
  FileSystems();

  /// Adds a file system for all paths that begin with `prefix`, such as "s3://", or replaces the
  /// file system with this prefix.
  void add(std::string prefix, std::shared_ptr<const FileSystem> file_system);

  /// Returns the file system with the longest prefix that `path` begins with.
  const std::shared_ptr<const FileSystem>& of(const std::string& path) const;

  /// Returns `path` resolved against the folder `base_dir`; a path with a prefix stays unchanged.
  std::string full_path(const std::string& path, const std::string& base_dir) const;
  /// Like full_path(), and without `.` and `..` in a path of this machine.
  std::string normal_path(const std::string& path, const std::string& base_dir) const;
  /// Returns FileSystem::local_paths() of a path or glob of a dataset.
  std::vector<std::string> local_paths(const std::string& path, const std::string& base_dir) const;

 private:
  struct Row {
    std::string prefix;
    std::shared_ptr<const FileSystem> file_system;
  };
  const Row& row_of(const std::string& path) const;

  std::vector<Row> rows_;  // one row has the prefix "", which every path begins with
};

}  // namespace forebay
