// The loops behind Kernels, compiled once for each SimdLevel: FOREBAY_KERNELS names the table
// this compilation defines. Everything has internal linkage and nothing of the standard library
// is called, so that no function compiled for a newer CPU can replace one used on an older.

#include <cstdint>

#include "actors/transform/kernels.h"

namespace forebay {
namespace {

using u64 = std::uint64_t;
using i64 = std::int64_t;

constexpr std::uint32_t kMissing = 0x7fc0dead;  // kMissingBits of core/data/column_set.h
constexpr std::uint32_t kNan = 0x7fc00000;      // kNanBits
constexpr float kInfinity = __builtin_inff();

template <class To, class From>
[[gnu::always_inline]] inline To bits(From from) {
  return __builtin_bit_cast(To, from);
}

/// `result`, unless the operand was a NaN: then the operand if it was missing, else the one NaN.
[[gnu::always_inline]] inline float keep_nan(float operand, float result) {
  const auto was = bits<std::uint32_t>(operand);
  const std::uint32_t nan = was == kMissing ? kMissing : kNan;
  return bits<float>(operand != operand ? nan : bits<std::uint32_t>(result));
}

/// log(1 + x) for x >= 0, not a NaN.
///
/// With k such that 2^-k (1 + x) = 1 + f lies in [√½, √2): k ln 2 + log(1 + f). f comes from x
/// itself, not from the rounded 1 + x. The scale is 2^(2-k) and a quarter, which no k makes
/// subnormal. log(1 + f) = f - f²/2 + f³ p(f), p a minimax fit of degree 8 (relative error of the
/// whole 7e-10).
[[gnu::always_inline]] inline float log1p_of(float x) {
  constexpr float kLn2High = 0x1.62ep-1F;         // 12 bits, so that k · kLn2High is exact
  constexpr float kLn2Low = 0x1.0bfbe8p-15F;
  const auto from_root_half = bits<std::int32_t>(1.0F + x) - 0x3f3504f3;
  const std::int32_t k = from_root_half >> 23;
  const float scale = bits<float>((129 - k) << 23);
  const float f = (x * scale) * 0.25F + (0.25F * scale - 1.0F);
  float p = 0.0691554586F;
  p = p * f - 0.117898659F;
  p = p * f + 0.118729245F;
  p = p * f - 0.123843351F;
  p = p * f + 0.14218664F;
  p = p * f - 0.166692518F;
  p = p * f + 0.200022263F;
  p = p * f - 0.249999866F;
  p = p * f + 0.333333104F;
  const auto n = static_cast<float>(k);
  const float square = f * f;
  const float tail = square * f * p + n * kLn2Low - 0.5F * square;
  const float sum = n * kLn2High + (f + tail);
  return x == kInfinity ? x : sum;
}

void log1p(float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float x = values[i];
    values[i] = keep_nan(x, log1p_of(x > 0.0F ? x : 0.0F));
  }
}

void clamp(float* values, std::size_t count, float low, float high) {
  for (std::size_t i = 0; i < count; ++i) {
    const float x = values[i];
    const float above = x < low ? low : x;
    values[i] = keep_nan(x, high < above ? high : above);
  }
}

void fill(float* values, std::size_t count, float value) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto word = bits<std::uint32_t>(values[i]);
    values[i] = bits<float>(word == kMissing ? bits<std::uint32_t>(value) : word);
  }
}

/// The high half of a 64 by 64 bit product: from the four products of halves where those are
/// vector instructions, else the processor's own.
[[gnu::always_inline]] inline u64 multiply_high(u64 a, u64 b) {
#ifdef __AVX512DQ__
  constexpr u64 kLow = 0xffffffffU;
  const u64 a0 = a & kLow;
  const u64 a1 = a >> 32;
  const u64 b0 = b & kLow;
  const u64 b1 = b >> 32;
  const u64 middle = a1 * b0 + (a0 * b0 >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & kLow)) >> 32);
#else
  __extension__ using Wide = unsigned __int128;
  return static_cast<u64>(Wide{a} * b >> 64);
#endif
}

[[gnu::always_inline]] inline i64 modulo(u64 value, const FloorMod& modulus) {
  const u64 sign = static_cast<u64>(static_cast<i64>(value) >> 63);
  const u64 quotient = sign ^ (multiply_high(sign ^ value, modulus.magic) >> modulus.shift);
  return static_cast<i64>(value - quotient * static_cast<u64>(modulus.divisor));
}

[[gnu::always_inline]] inline u64 mix(u64 key, u64 salt) {
  constexpr u64 kMultiplier = 0x9ddfea08eb382d69ULL;
  key = ~key + (key << 21);
  key ^= key >> 24;
  key = key + (key << 3) + (key << 8);
  key ^= key >> 14;
  key = key + (key << 2) + (key << 4);
  key ^= key >> 28;
  key = key + (key << 31);
  u64 a = (key ^ salt) * kMultiplier;
  a ^= a >> 47;
  u64 b = (salt ^ a) * kMultiplier;
  b ^= b >> 47;
  return b * kMultiplier;
}

void zero(i64* ids, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) ids[i] = 0;
}

void sigrid_hash(i64* ids, std::size_t count, u64 salt, FloorMod modulus) {
  if (modulus.divisor == 1) return zero(ids, count);
  for (std::size_t i = 0; i < count; ++i) {
    ids[i] = modulo(mix(static_cast<u64>(ids[i]), salt), modulus);
  }
}

void floor_mod(i64* ids, std::size_t count, FloorMod modulus) {
  if (modulus.divisor == 1) return zero(ids, count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = modulo(static_cast<u64>(ids[i]), modulus);
}

void clamp_ids(i64* ids, std::size_t count, i64 low, i64 high) {
  for (std::size_t i = 0; i < count; ++i) {
    const i64 above = ids[i] < low ? low : ids[i];
    ids[i] = high < above ? high : above;
  }
}

}  // namespace

extern const Kernels FOREBAY_KERNELS;
constinit const Kernels FOREBAY_KERNELS{
    .log1p = log1p,
    .clamp = clamp,
    .fill = fill,
    .sigrid_hash = sigrid_hash,
    .floor_mod = floor_mod,
    .clamp_ids = clamp_ids,
};

}  // namespace forebay
