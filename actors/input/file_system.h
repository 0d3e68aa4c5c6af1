#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/thread/shared_count.h"

namespace forebay {

/// Identifies a version of a file's content without reading it. Two equal stamps of one file mean
/// equal content. Index files hold both numbers, and names of spill copies contain their hash.
struct FileStamp {
  std::uint64_t bytes = 0;   ///< Size as stored.
  std::int64_t version = 0;  ///< For a local file, its mtime in ns since 1970; for an object in a
                             ///< store, 64 bits of a hash of its ETag.

  bool operator==(const FileStamp&) const = default;
};

/// A file system's description of one file.
struct FileInfo {
  std::string path;      ///< The path for open() and for messages.
  std::string absolute;  ///< The key of the index cache; independent of the working directory.
  std::string key;  ///< Identifies the file within its file system. All names of a file, such as
                    ///< links, have the same key; two files have different keys.
  FileStamp stamp;
};

/// How many requests were made for bytes of files and stores, and the bytes that came. A read of a
/// local file is a request. Thread-safe.
class IoCounts {
 public:
  void add(std::uint64_t requests, std::uint64_t bytes) {
    requests_.add(requests);
    bytes_.add(bytes);
  }
  std::uint64_t requests() const { return requests_.get(); }
  std::uint64_t bytes() const { return bytes_.get(); }

 private:
  SharedCount requests_;
  SharedCount bytes_;
};

/// Some bytes of a file, and the memory that they go to.
struct ReadRange {
  std::uint64_t offset = 0;
  std::span<char> out;
};

/// A read that may still be under way. Belongs to one thread at a time. The destructor gives the
/// read up; nothing is written to the ranges' memory after it.
class PendingRead {
 public:
  virtual ~PendingRead() = default;
  /// Waits until every range is filled. Fails like InputFile::read().
  virtual Status wait() = 0;
};

/// An input file, open for reading at any offset. Any thread may call any function at any time.
///
/// Errors: kUnavailable if the system refuses a read now; kCorrupt if the content changed
/// (`changed_since_indexed`), so no reader gets bytes of two versions; of stores also kTimeout (no
/// byte for `storage.give_up_after`) and kInvalid (refused for good, such as by HTTP 401 or 403).
class InputFile {
 public:
  virtual ~InputFile() = default;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return info_.path; }
  /// info(), stamp() and size() return the values from when the file was opened.
  const FileInfo& info() const { return info_; }
  const FileStamp& stamp() const { return info_.stamp; }
  std::uint64_t size() const { return info_.stamp.bytes; }

  /// Returns kCorrupt when the file no longer has the stamp `indexed`. Callers call it before each
  /// block, so it must be cheap: a file system that would need a request compares `indexed` with
  /// stamp() alone, and its read_at() fails when the content changed after opening.
  virtual Status check(const FileStamp& indexed) const = 0;
  /// Reads up to `out.size()` bytes from `offset` and returns their number: less than `out.size()`
  /// only at the end of the file, 0 past it.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) const = 0;
  /// Fills `out` from `offset`; kCorrupt when the file ends before `out` is full.
  Status read(std::uint64_t offset, std::span<char> out) const;

  /// Whether a read waits for another machine, so that reads should begin long before their bytes
  /// are needed.
  virtual bool is_remote() const { return false; }
  /// Begins to fill `ranges`, which do not overlap, in any order. Their memory and this file
  /// outlive the result. A remote file fetches the bytes in the background; any other file reads
  /// them in PendingRead::wait().
  virtual std::unique_ptr<PendingRead> begin_read(std::vector<ReadRange> ranges) const;

  /// Reads bytes from `offset` as far as they are available without waiting, and returns their
  /// number. The default reads nothing and returns 0.
  virtual std::size_t read_ready(std::uint64_t /*offset*/, std::span<char> /*out*/) const {
    return 0;
  }
  /// Hint that these bytes will be read next. Returns at once.
  virtual void will_read(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) const {}
  /// Hint that the whole file will be read from start to end. Returns at once.
  virtual void will_read_through() const {}

 protected:
  explicit InputFile(FileInfo info) : info_(std::move(info)) {}

 private:
  FileInfo info_;
};

/// A store of input files. Any thread may call any function. Every error names the path.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  /// Returns the files that match `pattern`, sorted bytewise by path; empty when no file matches.
  /// The path of an existing file matches that file alone, whatever characters it contains; any
  /// other pattern is a glob, whose `*`, `?` and `[...]` match no `/`. When stat() fails for a
  /// match, list() fails with the same error.
  virtual Result<std::vector<FileInfo>> list(const std::string& pattern) const = 0;
  /// Returns the description of one file. kNotFound when `path` does not exist; kInvalid when it is
  /// not a file, for example a folder.
  virtual Result<FileInfo> stat(const std::string& path) const = 0;
  /// Opens the file; the returned object may outlive the file system. Fails like stat(), and with
  /// kInvalid for a file that may not be read, kUnavailable for a temporary failure (no descriptor
  /// or connection left).
  virtual Result<std::unique_ptr<const InputFile>> open(const std::string& path) const = 0;
  /// Opens a file that list() or stat() described with `stamp`, if it still is so. May skip asking
  /// a store: then reads fail if the file changed. Errors like open().
  virtual Result<std::unique_ptr<const InputFile>> open_listed(const std::string& path,
                                                               const FileStamp& /*stamp*/) const {
    return open(path);
  }
  /// Whether its files are InputFile::is_remote().
  virtual bool is_remote() const { return false; }
  /// Returns the paths on this machine of all that list() would look at, whether or not it is a
  /// readable file, so that no output replaces it. The default returns none, as in a store.
  virtual std::vector<std::string> local_paths(const std::string& /*pattern*/) const { return {}; }

 protected:
  FileSystem() = default;
};

/// Makes a file system that shows the files of another one differently, such as several as one.
using FileView =
    std::function<std::shared_ptr<const FileSystem>(std::shared_ptr<const FileSystem> stored)>;

/// Returns the error of a read from a file whose content changed since it was indexed.
tl::unexpected<Error> changed_since_indexed(const std::string& path);

/// The table that selects the file system for a path. A value type; copies share the file systems.
/// Any thread may call const functions.
class FileSystems {
 public:
  /// Builds the table of the built-in file systems (file_system.cpp), which count into `counts`.
  explicit FileSystems(std::shared_ptr<IoCounts> counts);
  FileSystems() : FileSystems(std::make_shared<IoCounts>()) {}

  /// Adds a file system for all paths that begin with `prefix`, such as "s3://", or replaces the
  /// file system with this prefix.
  void add(std::string prefix, std::shared_ptr<const FileSystem> file_system);

  /// Returns a table with the view of each file system that `view` makes.
  FileSystems seen_through(const FileView& view) const;

  /// Returns the file system with the longest prefix that `path` begins with.
  const std::shared_ptr<const FileSystem>& of(const std::string& path) const;

  /// Returns what all file systems of this table and its copies count into.
  const std::shared_ptr<IoCounts>& counts() const { return counts_; }

  /// Returns `path` resolved against the folder `base_dir`; a path with a prefix stays unchanged,
  /// but file:// becomes a path of this machine.
  std::string full_path(const std::string& path, const std::string& base_dir) const;
  /// Like full_path(), and without `.` and `..` in a path of this machine.
  std::string normal_path(const std::string& path, const std::string& base_dir) const;
  /// Returns what FileSystem::list() takes for a path or glob of a dataset: full_path(), where no
  /// character of `base_dir` means more than itself.
  std::string pattern(const std::string& path, const std::string& base_dir) const;
  /// Returns FileSystem::local_paths() of a path or glob of a dataset.
  std::vector<std::string> local_paths(const std::string& path, const std::string& base_dir) const;

 private:
  struct Row {
    std::string prefix;
    std::shared_ptr<const FileSystem> file_system;
  };
  const Row& row_of(const std::string& path) const;

  std::shared_ptr<IoCounts> counts_;
  std::vector<Row> rows_;  // one row has the prefix "", which every path begins with
};

}  // namespace forebay
