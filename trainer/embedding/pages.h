#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainer/state/copy_before_change.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// Zeroed memory in pages of its own, which become resident on first write. Large ones request huge
/// pages, since embedding rows are read at random. Move-only.
///
/// Aborts if the address space is exhausted: a model's memory is checked before.
class Pages {
 public:
  Pages() = default;
  explicit Pages(std::size_t bytes);
  Pages(Pages&& other) noexcept { swap(other); }
  Pages& operator=(Pages&& other) noexcept {
    Pages(static_cast<Pages&&>(other)).swap(*this);
    return *this;
  }
  ~Pages();

  std::size_t size() const { return size_; }

  /// Zeroes the memory; pages are not resident until written to.
  void clear();

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void swap(Pages& other) noexcept;

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Rows in memory, numbered from 0 (slots): each has `width` weights and `state_width` values of
/// optimizer state. Pages become resident on first write. A writer announces rows before it changes
/// them, so that a snapshot can be read meanwhile; the storage decides which thread may use which
/// slot at what time.
class RowArena {
 public:
  /// `room` outlives it.
  RowArena(std::size_t slots, std::size_t width, std::size_t state_width, CopyRoom& room);

  std::size_t slots() const { return slots_; }
  std::size_t width() const { return width_; }
  std::size_t state_width() const { return state_width_; }

  float* weights() const { return weights_.as<float>(); }
  float* weights(std::size_t slot) const { return weights() + slot * width_; }
  /// nullptr if rows have no state.
  float* state() const { return state_.as<float>(); }
  float* state(std::size_t slot) const { return state() + slot * state_width_; }

  /// Resets all rows to 0; they take no memory until they are written to. Requires that no snapshot
  /// is being read.
  void clear() {
    weights_.clear();
    state_.clear();
  }

  void before_change(std::span<const std::int32_t> slots) const {
    weights_guard_->before_change(slots);
    if (state_guard_ != nullptr) state_guard_->before_change(slots);
  }
  /// Called by the storage before it assigns these slots to other rows.
  void before_refill(std::span<const std::int32_t> slots) {
    before_change(slots);
    if (refills_.empty()) return;
    refilled_ = refilled_ || !slots.empty();
    for (const std::int32_t slot : slots) ++refills_[static_cast<std::size_t>(slot)];
  }
  /// Counts from now on how often a slot was refilled, for caches of rows: 4 bytes per slot.
  void count_refills() { refills_.resize(slots_); }
  std::uint32_t refills(std::size_t slot) const { return refilled_ ? refills_[slot] : 0; }

  CopyBeforeChange& weights_guard() const { return *weights_guard_; }
  /// Null if rows have no state.
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
  bool refilled_ = false;               ///< Any slot, as far as counted.
};

/// Appends the weights and state of all slots as tensors `name`.
void append_arena(const RowArena& arena, const std::string& name,
                  std::vector<MemoryTensor>& tensors);

}  // namespace forebay
