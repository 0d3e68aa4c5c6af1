#include "trainer/embedding/slot_metadata.h"

#include "core/base/check.h"

namespace forebay {
namespace {

constexpr std::int32_t kNew = -1;   // Placeholder until a slot is chosen.
constexpr std::size_t kAhead = 24;  // How many rows ahead what a row needs is fetched.

}  // namespace

void SlotPins::add(const Part& part, std::uint64_t turn) {
  if (held_.size() < turn - finished_) held_.resize(turn - finished_);
  std::size_t all = part.fresh;
  for (std::size_t i = 0; i < part.moved.size(); ++i) {
    held_[i] -= part.moved[i];
    all += part.moved[i];
  }
  pinned_ += part.fresh;
  held_[turn - finished_ - 1] += all;
}

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

SlotCache::Share SlotCache::share_of(std::size_t member, std::size_t rows) const {
  const std::size_t each = (rows + parts_.size() - 1) / parts_.size();
  const std::size_t first = std::min(member * each, rows);
  return {first, std::min(each, rows - first)};
}

/// Looks up the rows of slots.size() entries from `first` on. They lie all over the memory, so what
/// later ones need is fetched meanwhile.
void SlotCache::find_part(std::span<const Row> rows, std::uint64_t turn,
                          std::span<std::int32_t> slots, std::size_t first, Part& part) {
  const auto look_up = [&](std::size_t i) {
    slots[i] = slot_of(rows[i].number) - 1;
    if (slots[i] == kNew) return;
    __builtin_prefetch(&slots_[static_cast<std::size_t>(slots[i])], 1);
    pins_.prefetch(static_cast<std::size_t>(slots[i]));
  };
  const auto hold_and_check = [&](std::size_t i) {
    const auto index = static_cast<std::uint32_t>(first + i);
    if (slots[i] == kNew) return part.missing.push_back(index);
    const auto at = static_cast<std::size_t>(slots[i]);
    // A call that is repeated, after too few slots were free, counts no use again.
    const bool is_new = turn == kOutOfTurn ? lend_slot(at) : pins_.pin_part(at, turn, part.pins);
    if (is_new) count_use(slots_[at]);
    if (slots_[at].refills != rows[i].refills) part.missing.push_back(index);
  };
  for (std::size_t i = 0; i < rows.size() + 2 * kAhead; ++i) {
    if (i < rows.size()) __builtin_prefetch(&slot_of(rows[i].number));
    if (i >= kAhead && i - kAhead < rows.size()) look_up(i - kAhead);
    if (i >= 2 * kAhead) hold_and_check(i - 2 * kAhead);
  }
}

/// Writes the slots of the rows that have one, and holds them; lists those without values.
void SlotCache::find(std::span<const Row> rows, std::uint64_t turn, std::span<std::int32_t> slots,
                     std::vector<std::uint32_t>& missing) {
  missing.clear();
  if (turn == kOutOfTurn) {
    parts_[0].missing.clear();
    find_part(rows, turn, slots, 0, parts_[0]);
    missing = parts_[0].missing;
    return;
  }
  team_.run([&](std::size_t member) {
    Part& part = parts_[member];
    part.missing.clear();
    part.pins = {};
    const auto [first, count] = share_of(member, rows.size());
    find_part(rows.subspan(first, count), turn, slots.subspan(first, count), first, part);
  });
  for (const Part& part : parts_) {
    missing.insert(missing.end(), part.missing.begin(), part.missing.end());
    pins_.add(part.pins, turn);
  }
}

bool SlotCache::take(std::span<const Row> rows, std::uint64_t turn, std::span<std::int32_t> slots,
                     std::vector<std::uint32_t>& missing) {
  FOREBAY_CHECK(slots.size() == rows.size());
  find(rows, turn, slots, missing);
  const auto wanted = static_cast<std::size_t>(
      std::ranges::count_if(missing, [&](std::uint32_t i) { return slots[i] == kNew; }));
  if (turn != kOutOfTurn) most_rows_ = std::max(most_rows_, rows.size());
  const bool spares = turn != kOutOfTurn && turn != pins_.finished() + 1;
  if (wanted > 0 && wanted + (spares ? most_rows_ : 0) > free_slots()) {
    if (turn == kOutOfTurn) give_back();
    return false;
  }
  for (std::size_t n = 0; n < missing.size(); ++n) {
    if (n + kAhead < missing.size()) {
      __builtin_prefetch(&slot_of(rows[missing[n + kAhead]].number), 1);
    }
    const std::uint32_t i = missing[n];
    if (slots[i] == kNew) {
      const std::size_t at = choose();
      Slot& slot = slots_[at];
      if (slot.row != 0) slot_of(slot.row - 1) = 0;
      slot.row = rows[i].number + 1;
      slots[i] = static_cast<std::int32_t>(at);
      slot_of(rows[i].number) = slots[i] + 1;
      if (turn == kOutOfTurn) {
        lend_slot(at);
      } else {
        pins_.pin(at, turn);
      }
      count_use(slot);
    }
    slots_[static_cast<std::size_t>(slots[i])].refills = rows[i].refills;
  }
  return true;
}

}  // namespace forebay
