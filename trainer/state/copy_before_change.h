#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace forebay {

/// Memory for the copies that the guards of one model make: a fixed number of slots, all of which
/// count as the model's memory whether in use or not.
///
/// Also holds the mutex and condition of the guards and their threads. Outlives the guards.
class CopyRoom {
 public:
  /// At least one slot, even if `bytes` is smaller.
  CopyRoom(std::size_t slot_bytes, std::size_t bytes);

  std::size_t slot_bytes() const { return slot_bytes_; }
  /// The peak of bytes in use.
  std::size_t most_bytes() const {
    const std::lock_guard lock(mutex_);
    return touched_ * slot_bytes_;
  }

 private:
  friend class CopyBeforeChange;

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // Requires the mutex.
  std::uint32_t take();
  void give(std::uint32_t slot) { free_.push_back(slot); }
  void tell() {
    if (waiting_ > 0) changed_.notify_all();
  }
  void wait(std::unique_lock<std::mutex>& lock);

  std::byte* at(std::uint32_t slot) { return memory_.get() + slot * slot_bytes_; }

  const std::size_t slot_bytes_;
  const std::uint32_t slots_;
  const std::unique_ptr<std::byte[]> memory_;  // becomes resident on first use
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  std::uint32_t touched_ = 0;  // slots ever used
  std::vector<std::uint32_t> free_;
};

/// Lets one thread read an array of rows as of one moment while other threads change it: a thread
/// that is about to change a group of unread rows copies the group aside first. If no slot is free
/// the writer waits for the reader, so the reader only ever waits for a copy in progress.
///
/// begin() is called between two steps. before_change() may be called by any number of threads,
/// each before it writes; without a reader it costs one load. read() and end() belong to the
/// reader. The bytes read do not depend on the timing of threads. Neither copyable nor movable; the
/// memory and the room outlive it.
class CopyBeforeChange {
 public:
  /// `memory` consists of whole rows of `row_bytes`; a row must fit into a slot.
  CopyBeforeChange(std::span<const std::byte> memory, std::size_t row_bytes, CopyRoom& room);
  CopyBeforeChange(const CopyBeforeChange&) = delete;
  CopyBeforeChange& operator=(const CopyBeforeChange&) = delete;
  ~CopyBeforeChange();

  /// Bytes that a guard of `memory` bytes takes, beside the room.
  static std::size_t own_bytes(std::size_t memory, std::size_t row_bytes, std::size_t slot_bytes);

  /// Whether there is a reader.
  bool alive() const { return alive_.load(std::memory_order_acquire); }

  void begin();

  void before_change(std::size_t row) { before_change(std::span<const std::size_t>(&row, 1)); }
  /// The same for many rows, given as integers of any type.
  template <class Row>
  void before_change(std::span<const Row> rows) {
    if (!alive()) return;
    std::array<std::size_t, kAtOnce> due;
    std::size_t count = 0;
    for (const Row row : rows) {
      const std::size_t group = static_cast<std::size_t>(row) >> shift_;
      if (groups_[group].load(std::memory_order_acquire) >= State::kCopied) continue;
      due[count++] = group;
      if (count == kAtOnce) copy_aside(std::span(due).first(std::exchange(count, 0)));
    }
    if (count > 0) copy_aside(std::span(due).first(count));
  }

  /// Reads bytes [offset, offset + to.size()) as of begin(). Ascending, each byte once.
  void read(std::uint64_t offset, std::span<std::byte> to);

  /// Ends reading, and wakes writers that wait.
  void end();

 private:
  enum class State : std::uint8_t { kOld, kCopying, kReading, kCopied, kDone };

  static constexpr std::size_t kAtOnce = 128;

  void copy_aside(std::span<const std::size_t> groups);
  std::size_t take_over(std::span<const std::size_t> groups, std::size_t& at,
                        std::span<std::size_t> own);
  struct Run {
    const std::byte* old;
    std::size_t groups;
  };

  void claim(std::size_t first, std::size_t last);
  Run run_from(std::size_t first, std::size_t last);
  void let_go(std::size_t first, std::size_t last, std::size_t done);

  const std::span<const std::byte> memory_;
  CopyRoom& room_;
  int shift_ = 0;  // log2 of a group's rows
  std::size_t group_bytes_ = 0;
  std::atomic<bool> alive_{false};
  std::vector<std::atomic<State>> groups_;
  const std::unique_ptr<std::uint32_t[]> slots_;  // of groups copied or being copied
  std::size_t copying_ = 0;                       // groups being copied
};

}  // namespace forebay
