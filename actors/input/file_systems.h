#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/input/file_system.h"

namespace forebay {

/// The table of file systems: which one reads a path. A value; shares the file systems with its
/// copies. Any thread may call const functions.
class FileSystems {
 public:
  /// The table that Forebay is built with (file_systems.cpp).
  FileSystems();

  /// Adds a file system for all paths that begin with `prefix`, as "s3://", or replaces the one
  /// that has this prefix.
  void add(std::string prefix, std::shared_ptr<const FileSystem> file_system);

  /// The file system with the longest prefix that `path` begins with.
  const std::shared_ptr<const FileSystem>& of(const std::string& path) const;

  /// `path` relative to the folder `base_dir`; one that begins with a prefix stays as it is.
  std::string full_path(const std::string& path, const std::string& base_dir) const;

 private:
  struct Row {
    std::string prefix;
    std::shared_ptr<const FileSystem> file_system;
  };
  const Row& row_of(const std::string& path) const;

  std::vector<Row> rows_;  // one of them has the prefix "", which any path begins with
};

}  // namespace forebay
