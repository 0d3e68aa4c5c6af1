#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainer/copy_before_change.h"
#include "trainer/embedding/pages.h"
#include "trainer/memory_source.h"

namespace forebay {

/// Rows in memory, numbered from 0 (slots): each `width` weights and `state_width` values of the
/// optimizer's. Becomes resident as it is written to. Whoever changes rows says so before, so that
/// a snapshot can be read meanwhile; who may touch which slot when is the storage's to say.
class RowArena {
 public:
  /// `room` outlives it.
  RowArena(std::size_t slots, std::size_t width, std::size_t state_width, CopyRoom& room);

  std::size_t slots() const { return slots_; }
  std::size_t width() const { return width_; }
  std::size_t state_width() const { return state_width_; }

  float* weights() const { return weights_.as<float>(); }
  float* weights(std::size_t slot) const { return weights() + slot * width_; }
  /// nullptr where rows have no state.
  float* state() const { return state_.as<float>(); }
  float* state(std::size_t slot) const { return state() + slot * state_width_; }

  /// All rows are 0 again and take no memory until they are written to; nothing reads a snapshot.
  void clear() {
    weights_.clear();
    state_.clear();
  }

  void before_change(std::span<const std::int32_t> slots) const {
    weights_guard_->before_change(slots);
    if (state_guard_ != nullptr) state_guard_->before_change(slots);
  }
  /// Likewise by the storage, which is about to give these slots to other rows.
  void before_refill(std::span<const std::int32_t> slots) {
    before_change(slots);
    if (refills_.empty()) return;
    for (const std::int32_t slot : slots) ++refills_[static_cast<std::size_t>(slot)];
  }
  /// From now on it is counted how often that happened to a slot, for who keeps copies of rows:
  /// 4 bytes a slot.
  void count_refills() { refills_.resize(slots_); }
  std::uint32_t refills(std::size_t slot) const { return refills_[slot]; }

  CopyBeforeChange& weights_guard() const { return *weights_guard_; }
  /// Null where rows have no state.
  CopyBeforeChange* state_guard() const { return state_guard_.get(); }

 private:
  std::size_t slots_;
  std::size_t width_;
  std::size_t state_width_;
  Pages weights_;
  Pages state_;
  std::unique_ptr<CopyBeforeChange> weights_guard_;
  std::unique_ptr<CopyBeforeChange> state_guard_;
  std::vector<std::uint32_t> refills_;  ///< By slot; empty: not counted.
};

/// The weights and state of all slots as tensors `name`.
void append_arena(const RowArena& arena, const std::string& name,
                  std::vector<MemoryTensor>& tensors);

}  // namespace forebay
