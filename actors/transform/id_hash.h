#pragma once

#include <cstdint>

namespace forebay {

/// Thomas Wang's 64-bit integer mix, as folly's twang_mix64 has it.
constexpr std::uint64_t twang_mix64(std::uint64_t key) {
  key = ~key + (key << 21);
  key ^= key >> 24;
  key = key + (key << 3) + (key << 8);
  key ^= key >> 14;
  key = key + (key << 2) + (key << 4);
  key ^= key >> 28;
  return key + (key << 31);
}

/// CityHash's 128-to-64-bit finaliser.
constexpr std::uint64_t hash_128_to_64(std::uint64_t upper, std::uint64_t lower) {
  constexpr std::uint64_t kMultiplier = 0x9ddfea08eb382d69ULL;
  std::uint64_t a = (lower ^ upper) * kMultiplier;
  a ^= a >> 47;
  std::uint64_t b = (upper ^ a) * kMultiplier;
  b ^= b >> 47;
  return b * kMultiplier;
}

}  // namespace forebay
