#pragma once

#include <bit>
#include <cstddef>
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

/// The inner loops of the operators, in place over one column, compiled for one CpuLevel.
///
/// Dense kernels keep `missing` unchanged unless they say otherwise, and turn every other NaN into
/// kNanBits. No libm, no fused multiply-add, no reassociation: every level computes exactly the
/// expressions in kernel_loops.cpp.
struct Kernels {
  /// log(1 + max(x, 0)), within 2 ulp.
  void (*log1p)(float* values, std::size_t count);
  /// log(x + add), add > 0, computed in double, rounded once; a missing x counts as 0. -inf where x
  /// + add is 0, a NaN where it is less.
  void (*log_plus)(float* values, std::size_t count, double add);
  /// log(p / (1 - p)) for p = x clamped to [eps, 1 - eps]; computed in double, rounded once.
  void (*logit)(float* values, std::size_t count, double eps);
  /// (x^lambda - 1) / lambda of max(x, low), log x if lambda is 0; computed in double, rounded
  /// once.
  void (*box_cox)(float* values, std::size_t count, double lambda, double low);
  /// min(max(x, low), high).
  void (*clamp)(float* values, std::size_t count, float low, float high);
  /// `missing` becomes `value`.
  void (*fill)(float* values, std::size_t count, float value);
  /// The bucket of each value: the number of borders below it, plus one if it equals a border that
  /// is listed twice; -1 for a NaN. `borders` ascend, each at most twice.
  void (*bucketize)(const float* values, std::size_t count, const float* borders,
                    std::size_t num_borders, std::int64_t* buckets);

  /// The id's hash (hash_128_to_64) modulo the divisor.
  void (*sigrid_hash)(std::int64_t* ids, std::size_t count, std::uint64_t salt, FloorMod modulus);
  /// The id modulo the divisor, rounded toward minus infinity.
  void (*floor_mod)(std::int64_t* ids, std::size_t count, FloorMod modulus);
  void (*clamp_ids)(std::int64_t* ids, std::size_t count, std::int64_t low, std::int64_t high);
};

}  // namespace forebay
