#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/runtime/actor_ref.h"
#include "core/runtime/own_threads.h"
#include "core/runtime/synchronized.h"
#include "core/store/rows/row_log.h"
#include "trainer/embedding/pages.h"
#include "trainer/embedding/table_storage.h"

namespace forebay {

/// The rows of all tables, numbered through, on the disk: a row was written to it, or still has its
/// first values, which are not stored.
class DiskRows {
 public:
  /// `folder` is emptied by open().
  DiskRows(const TableLayout& layout, std::string folder);

  static std::uint64_t rows_of(const TableLayout& layout);
  static RowLog::Options options(const TableLayout& layout) {
    return {.row_bytes = layout.row_bytes(), .most_rows = rows_of(layout)};
  }
  /// Bytes of memory.
  static std::uint64_t memory_bytes(const TableLayout& layout) {
    return RowLog::memory_bytes(options(layout)) + rows_of(layout) / 8;
  }

  /// Opens the disk anew with the rows linked in `from`, empty: no rows. Does not change which rows
  /// count as written.
  Status open(const std::string& from);
  void close() { log_.reset(); }
  /// The open disk.
  RowLog& log() { return *log_; }

  std::uint64_t rows() const { return first_.back(); }
  /// The number of a table's first row.
  std::uint64_t first_of(std::size_t table) const { return first_[table]; }
  /// The table that has the row.
  std::size_t table_of(std::uint64_t number) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(first_, number) - first_.begin()) - 1;
  }
  bool has(std::int64_t number) const {
    return number >= 0 && static_cast<std::uint64_t>(number) < rows();
  }
  bool was_written(std::uint64_t number) const {
    return (written_[number / 8] >> (number % 8) & 1) != 0;
  }
  /// A bit a row: written.
  std::vector<std::uint8_t>& written() { return written_; }
  std::size_t written_bytes() const { return written_.size(); }

  /// Writes the first weights of a row.
  void fill_first(std::size_t table, std::uint64_t number, std::span<float> weights) const {
    values_[table].fill(layout_.first_of(table) + static_cast<std::int64_t>(number - first_[table]),
                        weights);
  }

  /// Writes rows, which count as written from now on.
  Status write(std::span<const std::uint64_t> numbers, const RowLog::Fill& fill);
  /// Writes the weights of rows, with a state of 0, or replaces the state of rows, keeping their
  /// weights. `values` has the part of each row.
  Status write_part(std::span<const std::uint64_t> numbers, std::span<const float> values,
                    StateTensor::Part part);

 private:
  const TableLayout layout_;
  const std::string folder_;
  std::vector<std::uint64_t> first_;  ///< By table, and the end.
  std::vector<RowValues> values_;     ///< By table.
  std::vector<std::uint8_t> written_;
  std::unique_ptr<RowLog> log_;
};

/// Reads rows from the disk into their slots by an actor on a thread of its own, batch after batch
/// in request order, so that the disk works while the next batch's rows are looked up.
///
/// wait_for_turn() and fetch() are called by one thread at a time, the other methods by any thread
/// at any time. Slots being fetched belong to the fetcher until await() of their turn returned. If
/// a read throws, the actor is restarted, and the rows are lost, as after any other error.
class RowFetcher {
 public:
  struct Rows {
    std::uint64_t turn = 0;
    std::vector<std::uint64_t> numbers = {};
    std::vector<std::int32_t> slots = {};
    std::vector<std::int32_t> times = {};  ///< How many of the batch's lookups name the row.
    std::uint64_t lookups = 0;             ///< Their sum, which fetch() sets.
  };

  /// `arena` outlives it.
  explicit RowFetcher(RowArena& arena);
  RowFetcher(const RowFetcher&) = delete;
  RowFetcher& operator=(const RowFetcher&) = delete;

  /// Sets the disk to read from; requires that no fetch is in progress, and clears an earlier
  /// error.
  void read_from(RowLog& disk);

  /// Blocks until fewer than two batches are in flight: further batches would hold slots early, for
  /// which rows in frequent use would be evicted.
  void wait_for_turn();
  /// Starts to read rows, after the batches in flight.
  void fetch(Rows rows);

  /// Blocks until the rows of turns up to this one were read. An error remains until read_from().
  Status await(std::uint64_t turn);
  Status drain() { return await(~std::uint64_t{0}); }

  /// Number of lookups of that turn whose rows were not read yet.
  std::uint64_t awaited(std::uint64_t turn) const;

 private:
  struct ReadRows;
  class Reading;
  struct InFlight {
    std::uint64_t turn = 0;
    std::uint64_t lookups = 0;
  };
  struct Progress {
    std::deque<InFlight> batches;  ///< The first one is being read.
    Status status;
  };

  void read_next(const Rows& rows);
  Status read(const Rows& rows);
  /// Ends the first batch in flight.
  void end_first(Status status);

  RowArena& arena_;
  RowLog* disk_ = nullptr;
  std::atomic<std::uint64_t> came_ = 0;  ///< Lookups of the first batch whose rows were read.
  mutable Synchronized<Progress> progress_;
  SystemClock clock_;
  OwnThreads threads_;  ///< Destroyed first: the actor uses all of the above.
  ActorRef<ReadRows> actor_;
};

}  // namespace forebay
