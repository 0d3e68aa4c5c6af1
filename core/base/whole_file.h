#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

/// Reads a whole regular file of at most `limit` bytes; never blocks on a FIFO or a device. Errors:
/// kNotFound when the file does not exist, kInvalid when it is not a regular file, kUnavailable
/// when it may be readable later (no permission, no descriptor left), kCorrupt when it is larger
/// than `limit` or cannot be read at all. Each message begins with `path`.
Result<std::string> read_whole(const std::string& path, std::size_t limit);

/// Suffix of the temporary file in which a new content is written.
inline constexpr char kAside[] = ".partial";

/// Whether the new content has reached the disk before it gets its name.
enum class Sync : bool { kNo, kYes };

/// A file that appears under its name only when it is complete: it is written as `path` + kAside,
/// and commit() renames it. The destructor removes a file that was not committed. Errors begin with
/// `path`; kOverloaded: there is no space, kUnavailable: any other reason.
class FileAside {
 public:
  /// The file gets `mode` whatever the umask is; without it, the mode of a new file.
  static Result<FileAside> create(const std::string& path, std::optional<mode_t> mode = {});
  FileAside(FileAside&& other) noexcept
      : path_(std::exchange(other.path_, {})), file_(std::move(other.file_)) {}
  FileAside& operator=(FileAside&&) = delete;
  ~FileAside();

  Status write(std::string_view bytes);
  /// Replaces bytes that were written before; `offset` is that of the first one.
  Status rewrite(std::uint64_t offset, std::string_view bytes);
  /// Renames the complete file to its final name.
  Status commit(Sync sync);

 private:
  FileAside(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;  // empty: no file to remove
  Descriptor file_;
};

/// Replaces the content of a file completely or not at all, as FileAside does.
Status replace_whole(const std::string& path, std::string_view text, Sync sync,
                     std::optional<mode_t> mode = {});

}  // namespace forebay
