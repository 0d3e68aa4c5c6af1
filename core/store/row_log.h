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

/// Rows of one size by number, on the disk, for more rows than memory holds, read and written many
/// at a time, all over: a log of rows (Rosenblum and Ousterhout, "The Design and Implementation of
/// a Log-Structured File System", 1992).
///
/// Rows are appended, so that writing is sequential; where each one's latest copy lies is known in
/// memory, so that reading takes one page of the disk and nothing else. Of segments that hold too
/// many older copies the rows that count are appended again, in the background: the disk holds
/// about twice the rows. All of it goes past the system's page cache.
///
/// Owns the folder while it lives; keeps nothing across a crash but what link() put elsewhere: the
/// folder is emptied when it is opened. Any thread may call it at any time, read() and write() of
/// different rows; reads follow one another, as do writes. Refuses with kUnavailable, naming the
/// folder, when the disk does; after that nothing is written any more.
class RowLog {
 public:
  struct Options {
    std::size_t row_bytes = 0;
    std::uint64_t most_rows = 0;  ///< Numbers are below it.
  };

  /// Bytes of memory that it takes, however many rows were written.
  static std::uint64_t memory_bytes(const Options& options);

  /// An empty folder, or, with `from`, the rows that were linked there; those files stay as they
  /// are. kCorrupt, naming the file, where one of them is not whole.
  static Result<std::unique_ptr<RowLog>> create(const std::string& folder, const Options& options,
                                                const std::string& from = "");
  ~RowLog();
  RowLog(const RowLog&) = delete;
  RowLog& operator=(const RowLog&) = delete;

  /// Called for the place of each row in `numbers`, in any order; by several threads at a time
  /// where the kernel has no asynchronous reads.
  using RowCallback = std::function<void(std::size_t place, std::span<const std::byte> row)>;

  /// Reads rows that were written. kCorrupt when one is missing or a page of the disk has changed.
  Status read(std::span<const std::uint64_t> numbers, const RowCallback& take);

  /// Puts the values of the row at a place in `numbers` to where it is asked to.
  using Fill = std::function<void(std::size_t place, std::span<std::byte> row)>;

  /// Writes rows, each once. They may be read at once; they reach the disk later.
  Status write(std::span<const std::uint64_t> numbers, const Fill& fill);

  /// Puts all rows as they are now into a new folder of the same file system, as links: what is
  /// written later is not in it.
  Status link(const std::string& folder);

  /// Reads what link() put into `folder`, each row once, in no order; changes nothing there.
  using Visit = std::function<Status(std::uint64_t number, std::span<const std::byte> row)>;
  static Status scan(const std::string& folder, const Options& options, const Visit& visit);

  /// Bytes on the disk.
  std::uint64_t disk_bytes() const;
  /// How many rows were appended again so far, to give the disk back what older copies took.
  std::uint64_t moved_rows() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Wanted {
    std::uint64_t place = 0;  ///< As SegmentIndex has it.
    std::size_t index = 0;    ///< In the caller's numbers.
  };
  struct PageReads;

  RowLog(std::string folder, const RowLogPlan& plan);
  Status start(const std::string& from);

  // Appending; with the mutex.
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
  std::mutex reading_;  ///< Of the queue; taken before the other.
  ReadQueue queue_;

  mutable std::mutex mutex_;  ///< Of all below, but what has its own.
  std::condition_variable space_;
  SegmentIndex index_;
  SegmentIndex::Segment open_;  ///< What is appended to; null until there is something.
  std::uint64_t open_slot_ = 0;
  std::vector<std::uint64_t> numbers_;  ///< Of the rows in it.
  std::unique_ptr<Chunk> chunk_;        ///< Its latest pages.
  std::uint64_t sequence_ = 0;          ///< Of the latest segment.
  std::uint64_t moved_rows_ = 0;
  Status error_;

  std::atomic<bool> stop_ = false;
  std::atomic<std::uint32_t> events_ = 0;  ///< Counts what the cleaner may want to know.
  std::thread cleaner_;
  ChunkWriter writer_;
};

}  // namespace forebay
