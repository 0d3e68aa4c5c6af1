#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

/// A file that appears under its name only when it is complete: written aside as
/// `NAME.<process>.partial`, then renamed; removed when it dies before. Move-only.
///
/// What a killed process leaves is found by remove_dead_partials. Not synced: what reads such
/// files checks them, and does them again after a power cut.
class PartialFile {
 public:
  /// Makes the folder too. kInvalid when the folder may not be written to.
  static Result<PartialFile> create(const std::string& path);
  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&& other) noexcept;
  ~PartialFile();

  Status write(std::span<const char> bytes);
  std::uint64_t written() const { return written_; }
  /// Gives the file its name.
  Status commit();

 private:
  PartialFile(std::string path, std::string aside, Descriptor descriptor);

  std::string path_;
  std::string aside_;  // empty: nothing to remove
  Descriptor descriptor_;
  std::uint64_t written_ = 0;
};

/// Removes the partial files in `folder` whose writers no longer run.
void remove_dead_partials(const std::string& folder);

}  // namespace forebay
