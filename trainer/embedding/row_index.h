#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/base/random.h"
#include "trainer/embedding/pages.h"

namespace forebay {

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

}  // namespace forebay
