#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/store/rows/chunk_writer.h"
#include "core/store/rows/segment_index.h"

namespace forebay {

/// The end of a RowLog, where rows are appended, with the index of all rows: callers and the
/// cleaner append through it, so a copy of a row that is appended later is never older.
///
/// Every method requires the lock of lock(), which callers hold over several calls, except lock()
/// itself and those that say so. After an error it appends nothing more.
class RowAppender {
 public:
  using Lock = std::unique_lock<std::mutex>;

  RowAppender(std::string folder, const RowLogPlan& plan);

  /// Indexes the segments in the folder; needs no lock before the first append.
  Status open();

  Lock lock() const { return Lock(mutex_); }
  const std::string& folder() const { return folder_; }
  /// May be read without the lock where only its plan matters.
  const SegmentIndex& index() const { return index_; }

  /// Makes sure that a row can be appended; may release the lock meanwhile. A caller waits while
  /// the disk is too full, since the last free segments are reserved for the cleaner.
  enum class Use : std::uint8_t { kCaller, kCleaner };
  Status make_room(Lock& lock, Use use);
  /// Appends a row, or overwrites it on the current page; `put` fills its values.
  void append(std::uint64_t number, const std::function<void(std::span<std::byte> row)>& put);
  /// Completes the current segment, and waits until everything is on disk.
  Status close();

  /// Calls `visit` with a page that is not on disk yet; returns false if it is on disk.
  bool visit(const SegmentIndex::Segment& segment, std::uint64_t page,
             const std::function<void(char* page)>& visit) const;

  /// Returns the error after which nothing is appended, also one of the writer; wakes the callers
  /// that wait for space.
  Status check();
  /// Ends appending, with `why`.
  void break_off(Status why);

  /// Blocks until there was an event, since the one numbered `seen`, that may give the cleaner
  /// work. Like the next two, needs no lock.
  void await_event(std::uint32_t seen) const { events_.wait(seen); }
  std::uint32_t events() const { return events_; }
  void tell_cleaner();

 private:
  bool has_room() const;
  Status open_segment();
  void begin_page();
  void hand_in();
  void finish_segment();
  void drop_if_empty(std::uint64_t slot);
  RowPage page() const;

  const std::string folder_;
  const RowLogPlan plan_;
  mutable std::mutex mutex_;  ///< Guards all members below, except thread-safe ones.
  std::condition_variable space_;
  SegmentIndex index_;
  SegmentIndex::Segment open_;  ///< The segment being appended to; null until the first row.
  std::uint64_t open_slot_ = 0;
  std::vector<std::uint64_t> numbers_;  ///< Numbers of the rows in open_.
  std::unique_ptr<Chunk> chunk_;        ///< The latest pages of open_.
  std::uint64_t sequence_ = 0;          ///< Of the latest segment.
  Status error_;
  std::atomic<std::uint32_t> events_ = 0;
  ChunkWriter writer_;
};

/// The error of a folder that rows cannot be written to.
tl::unexpected<Error> refuse_folder(const std::string& folder, const std::string& why);

}  // namespace forebay
