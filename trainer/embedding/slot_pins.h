#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace forebay {

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

  bool is_pinned(std::size_t slot) const { return last_turn_[slot] > finished_; }
  std::size_t pinned() const { return pinned_; }
  std::uint64_t finished() const { return finished_; }

 private:
  std::vector<std::uint32_t> last_turn_;  ///< By slot: the latest turn that holds it.
  std::deque<std::size_t> held_;  ///< Slots by the latest turn that holds them, from finished_ + 1.
  std::uint64_t finished_ = 0;
  std::size_t pinned_ = 0;
};

}  // namespace forebay
