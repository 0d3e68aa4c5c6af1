#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "core/base/background_worker.h"
#include "core/base/result.h"
#include "core/store/rows/row_log.h"
#include "trainer/embedding/row_arena.h"

namespace forebay {

/// Reads rows from the disk into their slots on its own thread, batch after batch in request order,
/// so that the disk works while the next batch's rows are looked up.
///
/// wait_for_turn() and fetch() are called by one thread at a time, the other methods by any thread
/// at any time. Slots being fetched belong to the fetcher until await() of their turn returned.
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
  explicit RowFetcher(RowArena& arena) : arena_(arena) {}
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
  void read_next();
  Status read(const Rows& rows);

  RowArena& arena_;
  RowLog* disk_ = nullptr;
  std::atomic<std::uint64_t> came_ = 0;  ///< Lookups of the first batch whose rows were read.

  mutable std::mutex mutex_;  ///< Guards all below.
  std::condition_variable changed_;
  std::deque<Rows> batches_;  ///< The first one is being read.
  Status status_;
  BackgroundWorker worker_{"reading rows ahead"};  ///< Last: it uses all of the above.
};

}  // namespace forebay
