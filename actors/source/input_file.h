#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

/// What tells a file from its earlier or later self without reading it.
struct FileStamp {
  std::uint64_t bytes = 0;    ///< As stored.
  std::int64_t mtime_ns = 0;  ///< Since 1970; may lie in the future.

  bool operator==(const FileStamp&) const = default;
};

/// A regular file, open for reading at any offset. Move-only; not thread-safe.
class InputFile {
 public:
  /// kNotFound when there is none; kInvalid for what is not a file or may not be read.
  static Result<InputFile> open(const std::string& path);

  const std::string& path() const { return path_; }
  /// As it was when opened.
  const FileStamp& stamp() const { return stamp_; }
  int descriptor() const { return descriptor_.number(); }

  /// kCorrupt when the file no longer is what `indexed` says.
  Status check(const FileStamp& indexed) const;
  /// Reads up to `out.size()` bytes from `offset`; fewer only at the end of the file.
  Result<std::size_t> read_some(std::uint64_t offset, std::span<char> out) const;
  /// Fills `out`; kCorrupt when the file ends before.
  Status read(std::uint64_t offset, std::span<char> out) const;

 private:
  InputFile(std::string path, Descriptor descriptor, FileStamp stamp)
      : path_(std::move(path)), descriptor_(std::move(descriptor)), stamp_(stamp) {}

  std::string path_;
  Descriptor descriptor_;
  FileStamp stamp_;
};

/// `path` with why the system refused it, from errno.
std::string system_refusal(const std::string& path, const char* what);

}  // namespace forebay
