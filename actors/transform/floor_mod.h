#pragma once

#include <bit>
#include <cstdint>

namespace forebay {

/// Division of any int64 by one fixed divisor, rounded toward minus infinity, without a divide.
///
/// For n >= 0 the quotient is (n · magic) >> (64 + shift), where magic = ⌊2^(63+l) / d⌋ + 1,
/// l = ⌈log2 d⌉ and shift = l - 1 (Granlund, Montgomery, PLDI'94, with N = 63: exact for every
/// n < 2^63). For n < 0, ⌊n/d⌋ = ~⌊~n/d⌋. A divisor of 1 has no magic: the
/// remainder is 0.
struct FloorMod {
  std::int64_t divisor = 1;
  std::uint64_t magic = 0;
  int shift = 0;

  /// `divisor` >= 1.
  static FloorMod by(std::int64_t divisor) {
    FloorMod mod;
    mod.divisor = divisor;
    if (divisor == 1) return mod;
    const auto d = static_cast<std::uint64_t>(divisor);
    const int log = 64 - std::countl_zero(d - 1);
    __extension__ using Wide = unsigned __int128;
    mod.magic = static_cast<std::uint64_t>((Wide{1} << (63 + log)) / d + 1);
    mod.shift = log - 1;
    return mod;
  }
};

/// The remainder in [0, divisor).
inline std::int64_t floor_mod(std::int64_t value, std::int64_t divisor) {
  const std::int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}

}  // namespace forebay
