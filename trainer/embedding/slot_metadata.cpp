#include "trainer/embedding/slot_metadata.h"

#include "core/base/check.h"

namespace forebay {
namespace {

constexpr std::uint8_t kMostSpared = 3;
constexpr std::int32_t kNew = -1;  // Placeholder until a slot is chosen.

}  // namespace

void SlotCache::clear() {
  slot_of_ = Pages(rows_ * sizeof(std::int32_t));
  std::ranges::fill(slots_, Slot{});
  pins_.clear();
  lent_.clear();
}

std::size_t SlotCache::free_slots() const {
  const auto only_lent =
      std::ranges::count_if(lent_, [this](std::size_t slot) { return !pins_.is_pinned(slot); });
  return slots_.size() - pins_.pinned() - static_cast<std::size_t>(only_lent);
}

/// Chooses a free slot; there must be one. Takes the next free slot with a use count of 0, and
/// decrements the counts of the free slots that the hand passes.
std::size_t SlotCache::choose() {
  while (true) {
    const std::size_t at = hand_;
    if (++hand_ == slots_.size()) hand_ = 0;
    Slot& slot = slots_[at];
    if (!is_free(at)) continue;
    if (slot.spared == 0) return at;
    --slot.spared;
  }
}

bool SlotCache::take(std::span<const Row> rows, std::uint64_t turn, std::span<std::int32_t> slots,
                     std::vector<std::uint32_t>& missing) {
  FOREBAY_CHECK(slots.size() == rows.size());
  missing.clear();
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    slots[i] = slot_of(rows[i].number) - 1;
    if (slots[i] == kNew) {
      ++wanted;
      missing.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    const auto at = static_cast<std::size_t>(slots[i]);
    hold(at, turn);
    if (slots_[at].refills != rows[i].refills) missing.push_back(static_cast<std::uint32_t>(i));
  }
  if (turn != kOutOfTurn) most_rows_ = std::max(most_rows_, rows.size());
  const bool spares = turn != kOutOfTurn && turn != pins_.finished() + 1;
  if (wanted > 0 && wanted + (spares ? most_rows_ : 0) > free_slots()) {
    if (turn == kOutOfTurn) give_back();
    return false;
  }
  for (const std::uint32_t i : missing) {
    if (slots[i] == kNew) {
      const std::size_t at = choose();
      Slot& slot = slots_[at];
      if (slot.row != 0) slot_of(slot.row - 1) = 0;
      slot.row = rows[i].number + 1;
      slots[i] = static_cast<std::int32_t>(at);
      slot_of(rows[i].number) = slots[i] + 1;
      hold(at, turn);
    }
    slots_[static_cast<std::size_t>(slots[i])].refills = rows[i].refills;
  }
  for (const std::int32_t at : slots) {
    std::uint8_t& spared = slots_[static_cast<std::size_t>(at)].spared;
    spared = std::min<std::uint8_t>(spared + 1, kMostSpared);
  }
  return true;
}

}  // namespace forebay
