#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/base/result.h"
#include "core/store/chunk_writer.h"
#include "core/store/read_queue.h"
#include "core/store/segment_index.h"
#include "core/store/segment_pages.h"

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

  /// Bytes used on disk.
  std::uint64_t disk_bytes() const;
  /// The number of rows appended again so far, to free the disk space of older copies.
  std::uint64_t moved_rows() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Wanted {
    std::uint64_t place = 0;  ///< As a location in SegmentIndex.
    std::size_t index = 0;    ///< In the caller's numbers.
  };
  struct PageReads;

  RowLog(std::string folder, const RowLogPlan& plan);
  Status start(const std::string& from);

  // Appending; requires the mutex.
  bool has_room() const;
  Status make_room(Lock& lock);
  void append(std::uint64_t number, const std::function<void(std::span<std::byte> row)>& put);
  Status open_segment();
  void begin_page();
  void hand_in();
  void finish_segment();
  void drop_if_empty(std::uint64_t slot);
  RowPage page() const;

  // Reading.
  template <class Seen>
  bool see_in_memory(const SegmentIndex::Segment& segment, std::uint64_t page,
                     const Seen& seen) const;
  Status look_up(std::span<const std::uint64_t> numbers, const RowCallback& take,
                 std::vector<Wanted>& wanted);
  Status take_page(const PageReads& reads, std::size_t at, ReadPage page,
                   std::span<const std::uint64_t> numbers, const RowCallback& take) const;
  Status lost(std::uint64_t number) const;

  // Cleaning, on a thread of its own.
  bool wants_cleaning() const;
  bool too_full() const;
  std::optional<std::uint64_t> victim() const;
  void clean();
  bool clean_one(const DirectMemory& buffer);
  Status move_rows(std::uint64_t slot, const SegmentIndex::Segment& segment,
                   const DirectMemory& buffer);
  Status move_page(Lock& lock, const SegmentIndex::Segment& segment, SegmentIndex::Page here,
                   const RowPage& rows);
  void tell_cleaner();

  const std::string folder_;
  const RowLogPlan plan_;
  std::mutex reading_;  ///< Guards queue_; locked before mutex_.
  ReadQueue queue_;

  mutable std::mutex mutex_;  ///< Guards all members below, except thread-safe ones.
  std::condition_variable space_;
  SegmentIndex index_;
  SegmentIndex::Segment open_;  ///< The segment being appended to; null until the first row.
  std::uint64_t open_slot_ = 0;
  std::vector<std::uint64_t> numbers_;  ///< Numbers of the rows in open_.
  std::unique_ptr<Chunk> chunk_;        ///< The latest pages of open_.
  std::uint64_t sequence_ = 0;          ///< Of the latest segment.
  std::uint64_t moved_rows_ = 0;
  Status error_;

  std::atomic<bool> stop_ = false;
  std::atomic<std::uint32_t> events_ = 0;  ///< Counts events that may give the cleaner work.
  std::thread cleaner_;
  ChunkWriter writer_;
};

}  // namespace forebay
