#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/result.h"
#include "core/store/row_log.h"
#include "trainer/embedding/row_arena.h"

namespace forebay {

/// Reads rows from the disk into their slots on a thread of its own, batch after batch in the order
/// in which they were asked for, so that the disk has work while the next batch's rows are sought.
///
/// wait_for_turn() and fetch() are called by one thread at a time, the rest by any at any time.
/// Slots that are fetched belong to it until their turn was awaited.
class RowFetcher {
 public:
  struct Rows {
    std::uint64_t turn = 0;
    std::vector<std::uint64_t> numbers = {};
    std::vector<std::int32_t> slots = {};
    std::vector<std::int32_t> times = {};  ///< How many of the batch's lookups are of the row.
  };

  /// `arena` outlives it.
  explicit RowFetcher(RowArena& arena) : arena_(arena) {}
  ~RowFetcher();
  RowFetcher(const RowFetcher&) = delete;
  RowFetcher& operator=(const RowFetcher&) = delete;

  /// Where rows lie from now on; nothing is being fetched, what failed before is forgotten.
  void read_from(RowLog& disk);

  /// Returns when fewer than two batches are under way: slots for more of them would be held in
  /// vain, and rows that come again leave for them.
  void wait_for_turn();
  /// Begins to read, behind what is under way.
  void fetch(Rows rows);

  /// Returns when the rows of turns up to this one have come. A failure stands.
  Status await(std::uint64_t turn);
  Status drain() { return await(~std::uint64_t{0}); }

  /// Lookups of that turn whose rows have not come yet.
  std::uint64_t awaited(std::uint64_t turn) const;

 private:
  struct Fetching {
    Rows rows;
    std::uint64_t lookups = 0;
  };

  void start();
  void run();
  Status read(const Rows& rows);

  RowArena& arena_;
  RowLog* disk_ = nullptr;
  std::atomic<std::uint64_t> came_ = 0;  ///< Lookups of the first batch.

  mutable std::mutex mutex_;  ///< Of all below.
  std::condition_variable changed_;
  std::deque<Fetching> batches_;  ///< The first is being read.
  Status status_;
  bool stop_ = false;
  std::thread thread_;  ///< From the first fetch() on.
};

}  // namespace forebay
