#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "trainer/embedding/pages.h"

namespace forebay {

/// The slot metadata of a cache of rows: which rows of a larger memory have a slot in a smaller one
/// too. Values are none of its business.
///
/// Rows get slots for a batch with a turn, as TableStorage has them, and keep them until the turn
/// is finished; or for one batch out of turn, until that is given back. Who leaves for them is
/// chosen among the others by a clock that spares rows for each of their last few batches (Smith
/// 1978, "Sequentiality and prefetching in database systems"). A function of the calls alone.
/// Belongs to one thread at a time.
class SlotCache {
 public:
  /// A row of the larger memory, and how often its place there was given to another row so far.
  struct Row {
    std::uint64_t number = 0;
    std::uint32_t refills = 0;
  };

  /// Of what it keeps for so many rows and slots.
  static std::uint64_t bytes(std::uint64_t rows, std::uint64_t slots);

  SlotCache(std::size_t rows, std::size_t slots);

  std::size_t slots() const { return slots_.size(); }

  /// Writes a slot for each row, and lists in `missing` which of them (by their place in `rows`) do
  /// not have their values there. False where too few are free: the same rows are asked for again
  /// once a turn is finished, or this turn is. Turns that are looked ahead at leave room for a
  /// batch out of turn.
  bool take(std::span<const Row> rows, std::uint64_t turn, std::span<std::int32_t> slots,
            std::vector<std::uint32_t>& missing);
  void finish(std::uint64_t turn);

  /// Likewise for a batch out of turn; one at a time.
  bool lend(std::span<const Row> rows, std::span<std::int32_t> slots,
            std::vector<std::uint32_t>& missing);
  void give_back();

  /// No row has a slot any more. No batch has any.
  void clear();

 private:
  struct Slot {
    std::uint64_t row = 0;        ///< 1 + its number; 0: none.
    std::uint64_t last_turn = 0;  ///< Of the latest batch that holds it.
    std::uint32_t refills = 0;    ///< Of the row, when its values came.
    std::uint8_t spared = 0;      ///< How often the clock passes it by.
    bool lent = false;
  };

  template <class Hold>
  bool give(std::span<const Row> rows, std::span<std::int32_t> slots,
            std::vector<std::uint32_t>& missing, std::size_t spare, const Hold& hold);
  std::int32_t& slot_of(std::uint64_t row) { return slot_of_.as<std::int32_t>()[row]; }
  bool is_free(const Slot& slot) const { return slot.last_turn <= finished_ && !slot.lent; }
  void pin(Slot& slot, std::uint64_t turn);
  void lend_one(std::size_t slot);
  std::size_t free_slots() const;
  std::size_t choose();

  Pages slot_of_;  ///< By row: 1 + slot; 0: none.
  std::size_t rows_;
  std::vector<Slot> slots_;
  std::size_t hand_ = 0;
  std::uint64_t finished_ = 0;
  std::deque<std::size_t> pins_;  ///< Slots by the latest turn that holds them, from finished_ + 1.
  std::size_t pinned_ = 0;
  std::vector<std::size_t> lent_;
  std::size_t only_lent_ = 0;  ///< Of those, the ones that no turn holds.
  std::size_t most_rows_ = 0;  ///< Of a batch so far.
};

}  // namespace forebay
