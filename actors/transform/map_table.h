#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/base/random.h"

namespace forebay {

/// A fixed map from id to id: open addressing at a load of at most a half. Immutable once filled.
class MapTable {
 public:
  explicit MapTable(std::size_t entries)
      : slots_(std::bit_ceil(2 * entries + 2)), mask_(slots_.size() - 1) {}

  /// Returns false if the key is present already.
  bool add(std::int64_t key, std::int64_t value) {
    Slot& slot = slots_[find(key)];
    if (slot.used) return false;
    slot = {key, value, true};
    return true;
  }

  std::int64_t value_or(std::int64_t key, std::int64_t otherwise) const {
    const Slot& slot = slots_[find(key)];
    return slot.used ? slot.value : otherwise;
  }

 private:
  struct Slot {
    std::int64_t key = 0;
    std::int64_t value = 0;
    bool used = false;
  };

  /// The key's slot, or the free slot that the key would take.
  std::size_t find(std::int64_t key) const {
    std::size_t at = mix64(static_cast<std::uint64_t>(key)) & mask_;
    while (slots_[at].used && slots_[at].key != key) at = (at + 1) & mask_;
    return at;
  }

  std::vector<Slot> slots_;
  std::size_t mask_;
};

}  // namespace forebay
