#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/store/rows/read_queue.h"
#include "core/store/rows/row_appender.h"
#include "core/store/rows/row_cleaner.h"

namespace forebay {

/// Rows of one size by number, on disk, for more rows than fit in memory. Callers read and write
/// many random rows at a time. A log of rows (Rosenblum and Ousterhout, "The Design and
/// Implementation of a Log-Structured File System", 1992).
///
/// Rows are appended, so writes are sequential. An index in memory gives the location of each row's
/// latest copy, so a read costs one page of the disk and nothing else. In the background, the live
/// rows of segments with too many older copies are appended again: the disk holds about twice the
/// rows. All I/O bypasses the system's page cache.
///
/// Owns the folder while it lives, and empties it when it is opened: only the rows that link() put
/// elsewhere survive a crash. Any thread may call it at any time, also read() and write() of
/// different rows at once; concurrent reads run one after another, as do concurrent writes. Refuses
/// with kUnavailable, naming the folder, when the disk fails; after that it writes nothing more.
class RowLog {
 public:
  struct Options {
    std::size_t row_bytes = 0;
    std::uint64_t most_rows = 0;  ///< Row numbers are below this.
  };

  /// Bytes of memory that a log takes; does not depend on the number of rows written.
  static std::uint64_t memory_bytes(const Options& options);

  /// Creates an empty log, or, with `from`, one with the rows linked there; the files in `from` do
  /// not change. kCorrupt, naming the file, if one of them is incomplete.
  static Result<std::unique_ptr<RowLog>> create(const std::string& folder, const Options& options,
                                                const std::string& from = "");
  ~RowLog();
  RowLog(const RowLog&) = delete;
  RowLog& operator=(const RowLog&) = delete;

  /// Called for each row with its index in `numbers`, in any order; by several threads at a time
  /// where the kernel has no asynchronous reads.
  using RowCallback = std::function<void(std::size_t place, std::span<const std::byte> row)>;

  /// Reads rows that were written. kCorrupt if one is missing or a page on disk has changed.
  Status read(std::span<const std::uint64_t> numbers, const RowCallback& take);

  /// Fills `row` with the values of the row at index `place` in `numbers`.
  using Fill = std::function<void(std::size_t place, std::span<std::byte> row)>;

  /// Writes rows, each once. They can be read at once, and reach the disk later.
  Status write(std::span<const std::uint64_t> numbers, const Fill& fill);

  /// Links all current rows into a new folder of the same file system; it does not include rows
  /// written later.
  Status link(const std::string& folder);

  /// Reads the rows that link() put into `folder`, each once, in any order; changes no file there.
  using Visit = std::function<Status(std::uint64_t number, std::span<const std::byte> row)>;
  static Status scan(const std::string& folder, const Options& options, const Visit& visit);

 private:
  struct Wanted {
    std::uint64_t place = 0;  ///< As a location in SegmentIndex.
    std::size_t index = 0;    ///< In the caller's numbers.
  };
  struct PageReads;

  RowLog(std::string folder, const RowLogPlan& plan);
  Status start(const std::string& from);
  Status look_up(std::span<const std::uint64_t> numbers, const RowCallback& take,
                 std::vector<Wanted>& wanted);
  Status take_page(const PageReads& reads, std::size_t at, ReadPage page,
                   std::span<const std::uint64_t> numbers, const RowCallback& take) const;
  Status lost(std::uint64_t number) const;

  const RowLogPlan plan_;
  std::mutex reading_;  ///< Guards queue_; locked before the appender.
  ReadQueue queue_;
  RowAppender rows_;
  std::optional<RowCleaner> cleaner_;
};

}  // namespace forebay
