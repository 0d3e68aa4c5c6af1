#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

/// A file that appears under its name only when it is complete: it is written as
/// `NAME.<process>.partial`, and commit() renames it. The destructor removes a file that was not
/// committed. Move-only.
///
/// remove_dead_partials() removes the files of killed processes. Files are not synced: readers
/// check them, and a damaged file is made again after a power cut.
class PartialFile {
 public:
  /// Creates the folder too. kInvalid when the folder may not be written to.
  static Result<PartialFile> create(const std::string& path);
  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;
  ~PartialFile();

  Status write(std::span<const char> bytes);
  std::uint64_t written() const { return written_; }
  /// Renames the complete file to its final name.
  Status commit();

 private:
  PartialFile(std::string path, std::string aside, Descriptor descriptor);

  std::string path_;
  std::string aside_;  // the partial file's path; empty: nothing to remove
  Descriptor descriptor_;
  std::uint64_t written_ = 0;
};

/// Removes the partial files in `folder` of processes that no longer run.
void remove_dead_partials(const std::string& folder);

}  // namespace forebay
