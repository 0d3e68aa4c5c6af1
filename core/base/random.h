#pragma once

#include <cstdint>

namespace forebay {

/// Spreads every bit of `x` over all 64 (the finaliser of SplitMix64, Steele et al., OOPSLA'14).
/// The result never changes across machines and versions: row orders and held-out rows depend on
/// it.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// One hash of two numbers; their order matters. Chain calls for more numbers.
constexpr std::uint64_t mix64(std::uint64_t a, std::uint64_t b) { return mix64(mix64(a) ^ b); }

/// A small fast generator (SplitMix64). A value: a copy continues independently.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    const std::uint64_t value = mix64(state_);
    state_ += 0x9e3779b97f4a7c15ULL;
    return value;
  }

  /// Uniform in [0, bound) for bound in [1, 2³²]; the bias is below bound / 2³².
  constexpr std::uint32_t below(std::uint64_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

  /// Uniform in [0, 1).
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace forebay
