// The loops behind Kernels, compiled once for each CpuLevel: FOREBAY_KERNELS names the table that
// this compilation defines. Everything has internal linkage and no function of the standard library
// is called, so that no function compiled for a newer CPU can replace one used on an older CPU.

#include <immintrin.h>

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

/// `result`, unless the operand was a NaN: then the operand if it was missing, else kNan.
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
  constexpr float kLn2High = 0x1.62ep-1F;  // 12 bits, so that k · kLn2High is exact
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

/// log x for a finite double x > 0, normal: 2^-k x = 1 + f in [√½, √2), and with s = f / (2 + f)
/// log(1 + f) = 2 (s + s³/3 + s⁵/5 + …), |s| < 0.172: the terms left out are below 2e-12 of it.
[[gnu::always_inline]] inline double log_of(double x) {
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  const i64 from_root_half = bits<i64>(x) - 0x3fe6a09e667f3bcd;
  const i64 k = from_root_half >> 52;
  const double f = bits<double>(bits<i64>(x) - (k << 52)) - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double p = 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  const double sum =
      static_cast<double>(static_cast<std::int32_t>(k)) * kLn2 + 2.0 * (s + s * z * p);
  return x == static_cast<double>(kInfinity) ? x : sum;
}

/// e^t - 1: t is clamped to ±700, which is beyond float's range. With n = t / ln 2 rounded and r =
/// t - n ln 2, |r| < 0.35: 2^n (e^r - 1) + (2^n - 1), Taylor's series to r¹¹ (relative error
/// 2e-14).
[[gnu::always_inline]] inline double expm1_of(double t) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42fefap-1;  // 33 bits, so that n · kLn2High is exact
  constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;
  constexpr double kRound = 0x1.8p52;  // adding it rounds to a whole number
  t = t > 700.0 ? 700.0 : t;
  t = t < -700.0 ? -700.0 : t;
  const double shifted = t * kLog2E + kRound;
  const double n = shifted - kRound;
  const double r = (t - n * kLn2High) - n * kLn2Low;
  double p = 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 1.0 / 2;
  const double small = r + r * r * p;
  const double power = bits<double>((bits<i64>(shifted) - bits<i64>(kRound) + 1023) << 52);
  return power * small + (power - 1.0);
}

void log_plus(float* values, std::size_t count, double add) {
  for (std::size_t i = 0; i < count; ++i) {
    const bool missing = bits<std::uint32_t>(values[i]) == kMissing;
    const double sum = static_cast<double>(missing ? 0.0F : values[i]) + add;
    const auto log = static_cast<float>(log_of(sum > 0.0 ? sum : 1.0));
    const float outside = sum == 0.0 ? -kInfinity : bits<float>(kNan);
    values[i] = sum > 0.0 ? log : outside;
  }
}

void logit(float* values, std::size_t count, double eps) {
  for (std::size_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(values[i]);
    const double above = x > eps ? x : eps;
    const double p = above < 1.0 - eps ? above : 1.0 - eps;
    values[i] = keep_nan(values[i], static_cast<float>(log_of(p / (1.0 - p))));
  }
}

void log_from(float* values, std::size_t count, double low) {
  for (std::size_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(values[i]);
    values[i] = keep_nan(values[i], static_cast<float>(log_of(x > low ? x : low)));
  }
}

void box_cox(float* values, std::size_t count, double lambda, double low) {
  if (lambda == 0.0) return log_from(values, count, low);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(values[i]);
    const double power = expm1_of(lambda * log_of(x > low ? x : low));
    values[i] = keep_nan(values[i], static_cast<float>(power / lambda));
  }
}

/// Buckets of at most kBlock values: the outer loop runs over all borders, the inner loop compares
/// many values with one border at once.
constexpr std::size_t kBlock = 256;

void bucketize_block(const float* values, std::size_t count, const float* borders,
                     std::size_t num_borders, i64* buckets) {
  std::int32_t counts[kBlock] = {};
  for (std::size_t j = 0; j < num_borders; ++j) {
    const float border = borders[j];
    const bool doubled = j + 1 < num_borders && borders[j + 1] == border;
    const float own = doubled ? border : __builtin_nanf("");
    for (std::size_t i = 0; i < count; ++i) {
      counts[i] += static_cast<std::int32_t>((border < values[i]) | (own == values[i]));
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    buckets[i] = values[i] != values[i] ? -1 : counts[i];
  }
}

i64 bucket_by_halving(float value, const float* borders, std::size_t num_borders) {
  if (value != value) return -1;
  std::size_t low = 0;
  std::size_t length = num_borders;
  while (length > 0) {
    const std::size_t half = length / 2;
    const bool below = borders[low + half] < value;
    low = below ? low + half + 1 : low;
    length = below ? length - half - 1 : half;
  }
  const bool doubled = low + 1 < num_borders && borders[low] == value && borders[low + 1] == value;
  return static_cast<i64>(low) + static_cast<i64>(doubled);
}

void bucketize(const float* values, std::size_t count, const float* borders,
               std::size_t num_borders, i64* buckets) {
  constexpr std::size_t kFewBorders = 64;
  if (num_borders > kFewBorders) {
    for (std::size_t i = 0; i < count; ++i) {
      buckets[i] = bucket_by_halving(values[i], borders, num_borders);
    }
    return;
  }
  for (std::size_t i = 0; i < count; i += kBlock) {
    const std::size_t size = count - i < kBlock ? count - i : kBlock;
    bucketize_block(values + i, size, borders, num_borders, buckets + i);
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

// The id loops are templates over one id or a register of them: the same expressions, so the
// same results. Compilers do not find the 32-bit multiply in 64-bit lanes by themselves.
#if defined(__AVX512DQ__)
using Ids = u64 __attribute__((vector_size(64)));
[[gnu::always_inline]] inline Ids multiply_halves(Ids a, Ids b) {
  return reinterpret_cast<Ids>(
      _mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
[[gnu::always_inline]] inline Ids multiply(Ids a, Ids b) { return a * b; }
#elif defined(__AVX2__)
using Ids = u64 __attribute__((vector_size(32)));
[[gnu::always_inline]] inline Ids multiply_halves(Ids a, Ids b) {
  return reinterpret_cast<Ids>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
[[gnu::always_inline]] inline Ids multiply(Ids a, Ids b) {
  const Ids crossed = multiply_halves(a >> 32, b) + multiply_halves(a, b >> 32);
  return multiply_halves(a, b) + (crossed << 32);
}
#else
using Ids = u64;
#endif

[[gnu::always_inline]] inline u64 multiply(u64 a, u64 b) { return a * b; }

/// The high half of a 64 by 64 bit product.
[[gnu::always_inline]] inline u64 multiply_high(u64 a, u64 b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<u64>(Wide{a} * b >> 64);
}

/// The sign of a two's complement number in every bit.
[[gnu::always_inline]] inline u64 sign_of(u64 value) {
  return static_cast<u64>(static_cast<i64>(value) >> 63);
}

#ifdef __AVX2__
[[gnu::always_inline]] inline Ids multiply_high(Ids a, Ids b) {
  const Ids low = Ids{} + 0xffffffffU;
  const Ids middle = multiply_halves(a >> 32, b) + (multiply_halves(a, b) >> 32);
  const Ids crossed = multiply_halves(a, b >> 32) + (middle & low);
  return multiply_halves(a >> 32, b >> 32) + (middle >> 32) + (crossed >> 32);
}

[[gnu::always_inline]] inline Ids sign_of(Ids value) {
  return reinterpret_cast<Ids>(value > ~u64{0} >> 1);
}
#endif

template <class Word>
[[gnu::always_inline]] inline Word modulo(Word value, const FloorMod& modulus) {
  const Word sign = sign_of(value);
  const Word magic = Word{} + modulus.magic;
  const Word divisor = Word{} + static_cast<u64>(modulus.divisor);
  const Word quotient = sign ^ (multiply_high(sign ^ value, magic) >> modulus.shift);
  return value - multiply(quotient, divisor);
}

/// The remainder of every id, of one or of a register of them.
struct Modulo {
  FloorMod modulus;

  template <class Word>
  [[gnu::always_inline]] Word operator()(Word id) const {
    return modulo(id, modulus);
  }
};

#ifdef __AVX512DQ__
/// The same for divisors from 2^12 to 2^60, by an estimate of the quotient in double: half the
/// instructions.
///
/// The estimate ⌊n · (1/d)⌋ has three roundings, so it is off by less than 3.01 · 2^-53 · 2^63 / d
/// < 1 before it is rounded down. Thus the rest lies in [-d, 2d), and is one d too small, right, or
/// one d too large. As an unsigned number a negative rest is huge, so the smaller one is right; no
/// sum overflows, since 3d fits into 64 bits.
struct EstimatedModulo {
  static constexpr i64 kSmallest = i64{1} << 12;
  static constexpr i64 kLargest = i64{1} << 60;

  FloorMod modulus;

  [[gnu::always_inline]] u64 operator()(u64 id) const { return modulo(id, modulus); }
  [[gnu::always_inline]] Ids operator()(Ids ids) const {
    const __m512d inverse = _mm512_set1_pd(1.0 / static_cast<double>(modulus.divisor));
    const __m512d quotient = _mm512_cvtepi64_pd(reinterpret_cast<__m512i>(ids)) * inverse;
    const auto estimate = reinterpret_cast<Ids>(
        _mm512_cvt_roundpd_epi64(quotient, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
    const Ids divisor = Ids{} + static_cast<u64>(modulus.divisor);
    const Ids rest = ids - multiply(estimate, divisor);
    return smaller(smaller(rest, rest + divisor), rest - divisor);
  }

 private:
  [[gnu::always_inline]] static Ids smaller(Ids a, Ids b) {
    return reinterpret_cast<Ids>(
        _mm512_min_epu64(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
  }
};
#endif

/// Calls loop(remainder) with the fastest function of an id that gives its remainder.
template <class Loop>
[[gnu::always_inline]] inline void with_modulo(FloorMod modulus, Loop loop) {
#ifdef __AVX512DQ__
  const i64 divisor = modulus.divisor;
  if (divisor >= EstimatedModulo::kSmallest && divisor <= EstimatedModulo::kLargest) {
    return loop(EstimatedModulo{modulus});
  }
#endif
  loop(Modulo{modulus});
}

/// hash_128_to_64(salt, twang_mix64(id)) of actors/transform/kernels.h.
template <class Word>
[[gnu::always_inline]] inline Word hash(Word id, u64 salt) {
  const Word multiplier = Word{} + 0x9ddfea08eb382d69ULL;
  id = ~id + (id << 21);
  id ^= id >> 24;
  id = id + (id << 3) + (id << 8);
  id ^= id >> 14;
  id = id + (id << 2) + (id << 4);
  id ^= id >> 28;
  id = id + (id << 31);
  Word a = multiply(id ^ salt, multiplier);
  a ^= a >> 47;
  Word b = multiply(salt ^ a, multiplier);
  b ^= b >> 47;
  return multiply(b, multiplier);
}

/// Applies `change` to every id, as many at once as a register holds.
template <class Change>
[[gnu::always_inline]] inline void for_ids(i64* ids, std::size_t count, Change change) {
  constexpr std::size_t kAtOnce = sizeof(Ids) / 8;
  std::size_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    Ids some;
    __builtin_memcpy(&some, ids + i, sizeof some);
    some = change(some);
    __builtin_memcpy(ids + i, &some, sizeof some);
  }
  for (; i < count; ++i) ids[i] = static_cast<i64>(change(static_cast<u64>(ids[i])));
}

void zero(i64* ids, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) ids[i] = 0;
}

void sigrid_hash(i64* ids, std::size_t count, u64 salt, FloorMod modulus) {
  if (modulus.divisor == 1) return zero(ids, count);
  with_modulo(modulus, [=](auto remainder) {
    for_ids(ids, count, [=](auto id) { return remainder(hash(id, salt)); });
  });
}

void floor_mod(i64* ids, std::size_t count, FloorMod modulus) {
  if (modulus.divisor == 1) return zero(ids, count);
  with_modulo(modulus, [=](auto remainder) { for_ids(ids, count, remainder); });
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
    .log_plus = log_plus,
    .logit = logit,
    .box_cox = box_cox,
    .clamp = clamp,
    .fill = fill,
    .bucketize = bucketize,
    .sigrid_hash = sigrid_hash,
    .floor_mod = floor_mod,
    .clamp_ids = clamp_ids,
};

}  // namespace forebay
