#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// Tells a file's content from its earlier or later self without reading it. Two equal stamps of
/// one file mean equal content. Index files hold both numbers, and names of spill copies hash them.
struct FileStamp {
  std::uint64_t bytes = 0;   ///< As stored.
  std::int64_t version = 0;  ///< Of a local file its mtime in ns since 1970; of an object in a
                             ///< store 64 bits of a hash of its ETag.

  bool operator==(const FileStamp&) const = default;
};

/// A file as a file system lists it.
struct FileInfo {
  std::string path;      ///< As it is opened and as messages name it.
  std::string absolute;  ///< Wherever a run starts, the same: what the index cache knows it by.
  std::string key;       ///< Equal for all names of one file, as a link has; differs for two files
                         ///< of one file system.
  FileStamp stamp;
};

/// A file of input, open for reading at any offset. Any thread may call any function at any time.
///
/// Errors: kUnavailable where the system refuses a read now, kCorrupt where the content changed
/// (`changed_since_indexed`). A reader never gets bytes of two versions without one of them.
class InputFile {
 public:
  virtual ~InputFile() = default;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return info_.path; }
  /// All of what follows as it was when the file was opened.
  const FileInfo& info() const { return info_; }
  const FileStamp& stamp() const { return info_.stamp; }
  std::uint64_t size() const { return info_.stamp.bytes; }

  /// kCorrupt when the file no longer is what `indexed` says. Called before each block, so it must
  /// be cheap: where it takes a request, compare with stamp() alone and let read_at() fail when
  /// the content changed after opening.
  virtual Status check(const FileStamp& indexed) const = 0;
  /// Reads up to `out.size()` bytes from `offset` and returns how many; fewer only at the end of
  /// the file, none past it.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) const = 0;
  /// Fills `out`; kCorrupt when the file ends before.
  Status read(std::uint64_t offset, std::span<char> out) const;

  /// Reads the first bytes of `out` that need no waiting, and returns how many; none by default.
  virtual std::size_t read_ready(std::uint64_t offset, std::span<char> out) const;
  /// Hints: these bytes will be read next, or all bytes from the start to the end. Return at once.
  virtual void will_read(std::uint64_t offset, std::uint64_t bytes) const;
  virtual void will_read_through() const {}

 protected:
  explicit InputFile(FileInfo info) : info_(std::move(info)) {}

 private:
  FileInfo info_;
};

/// Where files of input lie. Any thread may call any function. Every error names the path.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  /// Returns the files that `pattern` stands for, sorted bytewise by path; none where nothing
  /// matches. The path of a file stands for that file, whatever characters it has; anything else
  /// is a glob, whose `*`, `?` and `[...]` match no `/`. Fails as stat() does for a match.
  virtual Result<std::vector<FileInfo>> list(const std::string& pattern) const = 0;
  /// kNotFound when there is no such file; kInvalid for what is not a file, as a folder.
  virtual Result<FileInfo> stat(const std::string& path) const = 0;
  /// Opens the file, which may outlive the file system. Errors are those of stat(), kInvalid for a
  /// file that may not be read, kUnavailable for what may pass (no descriptor or connection left).
  virtual Result<std::unique_ptr<const InputFile>> open(const std::string& path) const = 0;

 protected:
  FileSystem() = default;
};

/// What reading fails with when the content is not what was indexed.
tl::unexpected<Error> changed_since_indexed(const std::string& path);

}  // namespace forebay
