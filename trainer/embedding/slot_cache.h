#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trainer/embedding/pages.h"
#include "trainer/embedding/slot_metadata.h"

namespace forebay {

/// The slot metadata of a cache of rows: which rows of a larger memory also have a slot in a
/// smaller one. Does not hold values.
///
/// Rows get slots for a batch with a turn, as in TableStorage, and keep them until the turn is
/// finished; or for one batch out of turn, until give_back(). Eviction is CLOCK among the other
/// rows, with a use count for each row's last few batches (Smith 1978, "Sequentiality and
/// prefetching in database systems"). Deterministic: depends on the calls alone. Belongs to one
/// thread at a time.
class SlotCache {
 public:
  /// A row of the larger memory, and how often its slot there was refilled so far.
  struct Row {
    std::uint64_t number = 0;
    std::uint32_t refills = 0;
  };

  SlotCache(std::size_t rows, std::size_t slots);

  std::size_t slots() const { return slots_.size(); }

  /// Writes a slot for each row, and lists in `missing` the indices of rows whose values are not in
  /// their slots. Returns false if too few slots are free; repeat the call after a turn is
  /// finished. A turn after the next one leaves slots free for a batch out of turn.
  bool take(std::span<const Row> rows, std::uint64_t turn, std::span<std::int32_t> slots,
            std::vector<std::uint32_t>& missing);
  void finish(std::uint64_t turn) { pins_.finish(turn); }

  /// The same for a batch out of turn; at most one at a time.
  bool lend(std::span<const Row> rows, std::span<std::int32_t> slots,
            std::vector<std::uint32_t>& missing);
  void give_back();

  /// Removes all rows from the cache. No batch may hold slots.
  void clear();

 private:
  struct Slot {
    std::uint64_t row = 0;      ///< 1 + its number; 0: empty.
    std::uint32_t refills = 0;  ///< The row's refill count when its values were copied.
    std::uint8_t spared = 0;    ///< How often the clock passes it before it may be evicted.
    bool lent = false;
  };

  template <class Hold>
  bool give(std::span<const Row> rows, std::span<std::int32_t> slots,
            std::vector<std::uint32_t>& missing, std::size_t spare, const Hold& hold);
  std::int32_t& slot_of(std::uint64_t row) { return slot_of_.as<std::int32_t>()[row]; }
  bool is_free(std::size_t slot) const { return !pins_.is_pinned(slot) && !slots_[slot].lent; }
  void lend_one(std::size_t slot);
  std::size_t free_slots() const;
  std::size_t choose();

  Pages slot_of_;  ///< By row: 1 + slot; 0: none.
  std::size_t rows_;
  std::vector<Slot> slots_;
  std::size_t hand_ = 0;
  SlotPins pins_;
  std::vector<std::size_t> lent_;
  std::size_t most_rows_ = 0;  ///< The most rows of a batch so far.
};

}  // namespace forebay
