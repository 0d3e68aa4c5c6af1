#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/random.h"
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

}  // namespace forebay
