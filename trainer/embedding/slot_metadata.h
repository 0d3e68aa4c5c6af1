#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/thread/thread_team.h"
#include "trainer/embedding/pages.h"

namespace forebay {

/// Approximate counts of keys, in one byte per counter (Cormode and Muthukrishnan's count-min
/// sketch, updated conservatively): below 255 never too low, too high if keys collide. A
/// deterministic function of the additions in their order. Belongs to one thread.
class FrequencySketch {
 public:
  /// Allocates four counters per key; `keys` keys are distinguished well.
  explicit FrequencySketch(std::uint64_t keys)
      : mask_(std::bit_ceil(std::max<std::uint64_t>(4 * keys, 64)) - 1), counters_(mask_ + 1) {}

  static std::uint64_t bytes(std::uint64_t keys) {
    return std::bit_ceil(std::max<std::uint64_t>(4 * keys, 64));
  }

  void prefetch(std::int64_t key) const { __builtin_prefetch(counters() + line(hash(key))); }

  std::uint32_t count(std::int64_t key) const {
    const std::uint64_t bits = hash(key);
    const std::uint8_t* at = counters() + line(bits);
    return std::min(
        {at[place(bits, 0)], at[place(bits, 1)], at[place(bits, 2)], at[place(bits, 3)]});
  }

  /// Returns the new count.
  std::uint32_t add(std::int64_t key, std::uint32_t times) {
    const std::uint64_t bits = hash(key);
    std::uint8_t* at = counters() + line(bits);
    const auto wanted = static_cast<std::uint8_t>(
        std::min<std::uint32_t>(count(key) + std::min<std::uint32_t>(times, 255), 255));
    for (int i = 0; i < 4; ++i) at[place(bits, i)] = std::max(at[place(bits, i)], wanted);
    return wanted;
  }

  /// Halves every count, so that old counts fade.
  void halve() {
    std::uint8_t* at = counters();
    for (std::uint64_t i = 0; i <= mask_; ++i) at[i] = static_cast<std::uint8_t>(at[i] >> 1);
  }

  std::span<std::uint8_t> bytes() { return {counters(), mask_ + 1}; }

 private:
  static std::uint64_t hash(std::int64_t key) { return mix64(static_cast<std::uint64_t>(key)); }
  /// All counters of a key lie in one cache line.
  std::uint64_t line(std::uint64_t bits) const { return (bits >> 24) & mask_ & ~std::uint64_t{63}; }
  static std::size_t place(std::uint64_t bits, int which) { return (bits >> (6 * which)) & 63; }
  std::uint8_t* counters() const { return counters_.as<std::uint8_t>(); }

  std::uint64_t mask_;
  Pages counters_;
};

/// Maps keys to slots and back: open addressing over the slots' keys, 14 to 20 bytes per slot. A
/// slot has at most one key. A value, but not copyable; belongs to one thread.
class RowIndex {
 public:
  static constexpr std::int32_t kNone = -1;

  explicit RowIndex(std::size_t slots)
      : mask_(std::bit_ceil(slots + slots / 2 + 2) - 1),
        table_((mask_ + 1) * sizeof(std::int32_t)),
        keys_(slots * sizeof(std::int64_t)) {}

  static std::uint64_t bytes(std::uint64_t slots) {
    return std::bit_ceil(slots + slots / 2 + 2) * sizeof(std::int32_t) +
           slots * sizeof(std::int64_t);
  }

  /// The slot of a key, or kNone.
  std::int32_t find(std::int64_t key) const {
    for (std::size_t at = home(key);; at = (at + 1) & mask_) {
      const std::int32_t slot = entry(at) - 1;
      if (slot == kNone || key_of(slot) == key) return slot;
    }
  }

  /// Prefetches the cache line that find() will read first.
  void prefetch(std::int64_t key) const {
    __builtin_prefetch(table_.as<std::int32_t>() + home(key));
  }

  /// Adds a key that is not in the index, for a slot without a key.
  void put(std::int64_t key, std::int32_t slot) {
    keys_.as<std::int64_t>()[slot] = key;
    std::size_t at = home(key);
    while (entry(at) != 0) at = (at + 1) & mask_;
    entry(at) = slot + 1;
    ++size_;
  }

  /// Removes the slot's key; keys behind it in the probe sequence move up.
  void erase(std::int32_t slot) {
    std::size_t hole = home(key_of(slot));
    while (entry(hole) != slot + 1) hole = (hole + 1) & mask_;
    for (std::size_t at = (hole + 1) & mask_; entry(at) != 0; at = (at + 1) & mask_) {
      const std::size_t wanted = home(key_of(entry(at) - 1));
      if (((at - wanted) & mask_) >= ((at - hole) & mask_)) {
        entry(hole) = entry(at);
        hole = at;
      }
    }
    entry(hole) = 0;
    --size_;
  }

  /// The key of a slot that has one.
  std::int64_t key_of(std::int32_t slot) const { return keys_.as<std::int64_t>()[slot]; }
  std::size_t size() const { return size_; }

 private:
  std::size_t home(std::int64_t key) const {
    return mix64(static_cast<std::uint64_t>(key)) & mask_;
  }
  std::int32_t& entry(std::size_t at) const { return table_.as<std::int32_t>()[at]; }

  std::size_t mask_;
  Pages table_;  ///< 1 + slot, or 0.
  Pages keys_;   ///< By slot.
  std::size_t size_ = 0;
};

/// The slots that turns hold until they are finished (TableStorage). A slot may be held by several
/// turns. Belongs to one thread at a time.
class SlotPins {
 public:
  explicit SlotPins(std::size_t slots) : last_turn_(slots) {}

  static std::uint64_t bytes(std::uint64_t slots) { return slots * sizeof(std::uint32_t); }

  /// Holds a slot until `turn`, which must not be below those that hold it already, is finished.
  void pin(std::size_t slot, std::uint64_t turn) {
    std::uint32_t& last = last_turn_[slot];
    if (last == turn) return;
    if (held_.size() < turn - finished_) held_.resize(turn - finished_);
    if (last > finished_) {
      --held_[last - finished_ - 1];
    } else {
      ++pinned_;
    }
    ++held_[turn - finished_ - 1];
    last = static_cast<std::uint32_t>(turn);
  }

  /// The slots that one of several threads holds for a turn, as far as only their number matters.
  struct Part {
    std::size_t fresh = 0;  ///< Slots that no turn held.
    std::vector<std::size_t>
        moved;  ///< Slots by the turn that held them last, from finished() + 1.
  };
  /// As pin(), and any number of threads may call it for different slots; `part` belongs to one.
  /// Returns false if the turn held the slot already.
  bool pin_part(std::size_t slot, std::uint64_t turn, Part& part) {
    std::uint32_t& last = last_turn_[slot];
    if (last == turn) return false;
    if (last > finished_) {
      part.moved.resize(std::max<std::size_t>(part.moved.size(), last - finished_));
      ++part.moved[last - finished_ - 1];
    } else {
      ++part.fresh;
    }
    last = static_cast<std::uint32_t>(turn);
    return true;
  }
  /// Counts the slots of a part, after all threads have ended.
  void add(const Part& part, std::uint64_t turn);

  void finish(std::uint64_t turn) {
    for (; finished_ < turn; ++finished_) {
      if (held_.empty()) continue;
      pinned_ -= held_.front();
      held_.pop_front();
    }
  }
  /// Releases all slots.
  void clear() {
    last_turn_.assign(last_turn_.size(), 0);
    held_.clear();
    pinned_ = 0;
  }

  /// Brings the slot's entry into the cache of the CPU.
  void prefetch(std::size_t slot) const { __builtin_prefetch(&last_turn_[slot]); }

  bool is_pinned(std::size_t slot) const { return last_turn_[slot] > finished_; }
  std::size_t pinned() const { return pinned_; }
  std::uint64_t finished() const { return finished_; }

 private:
  std::vector<std::uint32_t> last_turn_;  ///< By slot: the latest turn that holds it.
  std::deque<std::size_t> held_;  ///< Slots by the latest turn that holds them, from finished_ + 1.
  std::uint64_t finished_ = 0;
  std::size_t pinned_ = 0;
};

/// The slot metadata of a cache of rows: which rows of a larger memory also have a slot in a
/// smaller one. Does not hold values.
///
/// Rows get slots for a batch with a turn, as in TableStorage, and keep them until the turn is
/// finished; or for one batch out of turn, until give_back(). Eviction is CLOCK among the other
/// rows, with a use count for each row's last few batches (Smith 1978, "Sequentiality and
/// prefetching in database systems"). Deterministic: depends on the calls alone. Belongs to one
/// thread at a time. A batch's rows are all different.
class SlotCache {
 public:
  /// A row of the larger memory, and how often its slot there was refilled so far.
  struct Row {
    std::uint64_t number = 0;
    std::uint32_t refills = 0;
  };

  /// `team`, whose threads look rows up together, outlives it.
  SlotCache(std::size_t rows, std::size_t slots, ThreadTeam& team)
      : slot_of_(rows * sizeof(std::int32_t)),
        rows_(rows),
        slots_(slots),
        pins_(slots),
        team_(team),
        parts_(team.members()) {}

  std::size_t slots() const { return slots_.size(); }

  /// Writes a slot for each row, and lists in `missing` the indices of rows whose values are not in
  /// their slots. Returns false if too few slots are free; repeat the call after a turn is
  /// finished. A turn after the next one leaves slots free for a batch out of turn.
  bool take(std::span<const Row> rows, std::uint64_t turn, std::span<std::int32_t> slots,
            std::vector<std::uint32_t>& missing);
  void finish(std::uint64_t turn) { pins_.finish(turn); }

  /// The same for a batch out of turn; at most one at a time.
  bool lend(std::span<const Row> rows, std::span<std::int32_t> slots,
            std::vector<std::uint32_t>& missing) {
    return take(rows, kOutOfTurn, slots, missing);
  }
  void give_back() {
    for (const std::size_t slot : lent_) slots_[slot].lent = false;
    lent_.clear();
  }

  /// Removes all rows from the cache. No batch may hold slots.
  void clear();

 private:
  struct Slot {
    std::uint64_t row = 0;      ///< 1 + its number; 0: empty.
    std::uint32_t refills = 0;  ///< The row's refill count when its values were copied.
    std::uint8_t spared = 0;    ///< How often the clock passes it before it may be evicted.
    bool lent = false;
  };

  /// What one member of the team finds.
  struct Part {
    std::vector<std::uint32_t> missing;
    SlotPins::Part pins;
  };

  static constexpr std::uint64_t kOutOfTurn = 0;
  static constexpr std::uint8_t kMostSpared = 3;

  std::int32_t& slot_of(std::uint64_t row) { return slot_of_.as<std::int32_t>()[row]; }
  bool is_free(std::size_t slot) const { return !pins_.is_pinned(slot) && !slots_[slot].lent; }
  /// Returns false if the slot was lent already.
  bool lend_slot(std::size_t slot) {
    if (std::exchange(slots_[slot].lent, true)) return false;
    lent_.push_back(slot);
    return true;
  }
  static void count_use(Slot& slot) {
    slot.spared = std::min<std::uint8_t>(slot.spared + 1, kMostSpared);
  }
  /// The rows of a batch that a member of the team works on.
  struct Share {
    std::size_t first, count;
  };

  Share share_of(std::size_t member, std::size_t rows) const;
  void find(std::span<const Row> rows, std::uint64_t turn, std::span<std::int32_t> slots,
            std::vector<std::uint32_t>& missing);
  void find_part(std::span<const Row> rows, std::uint64_t turn, std::span<std::int32_t> slots,
                 std::size_t first, Part& part);
  std::size_t free_slots() const;
  std::size_t choose();

  Pages slot_of_;  ///< By row: 1 + slot; 0: none.
  std::size_t rows_;
  std::vector<Slot> slots_;
  std::size_t hand_ = 0;
  SlotPins pins_;
  ThreadTeam& team_;
  std::vector<Part> parts_;
  std::vector<std::size_t> lent_;
  std::size_t most_rows_ = 0;  ///< The most rows of a batch so far.
};

}  // namespace forebay
