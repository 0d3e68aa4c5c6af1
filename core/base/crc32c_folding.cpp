#include "core/base/crc32c_folding.h"

#if defined(__x86_64__)

#include <immintrin.h>

namespace forebay {
namespace {

#define FOREBAY_FOLDING_TARGET \
  __attribute__((target("avx512f,vpclmulqdq,pclmul,sse4.2"), always_inline))

constexpr std::ptrdiff_t kVector = sizeof(__m512i);

/// x to the power of `n` modulo the polynomial, bits reversed.
constexpr std::uint32_t power_of_x(int n) {
  std::uint32_t power = 0x8000'0000;
  for (; n > 0; --n) power = (power >> 1) ^ ((power & 1) != 0 ? kCrc32cPolynomial : 0);
  return power;
}

/// Factors that shift 16 bytes by kBits towards the end of the content: one for the first 8 bytes
/// and one for the last 8. In reversed bits, a product of 64 by 64 bits has one power of x too
/// many, and a 32-bit factor in the low half of 64 bits has 32 too many.
template <int kBits>
struct Factors {
  static constexpr std::uint64_t kFirst = power_of_x(kBits + 64 - 33);
  static constexpr std::uint64_t kLast = power_of_x(kBits - 33);
};

template <int kBits>
FOREBAY_FOLDING_TARGET inline __m512i factors() {
  using By = Factors<kBits>;
  return _mm512_set_epi64(By::kLast, By::kFirst, By::kLast, By::kFirst, By::kLast, By::kFirst,
                          By::kLast, By::kFirst);
}

FOREBAY_FOLDING_TARGET inline __m512i load(const char* at) { return _mm512_loadu_si512(at); }

/// Multiplies each 16-byte lane of `bytes` by its factor in `by` and adds `next`.
FOREBAY_FOLDING_TARGET inline __m512i fold(__m512i bytes, __m512i by, __m512i next) {
  constexpr int kXorOfThree = 0x96;
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(bytes, by, 0x00),
                                   _mm512_clmulepi64_epi128(bytes, by, 0x11), next, kXorOfThree);
}

/// The CRC state of the 64 bytes.
FOREBAY_FOLDING_TARGET inline std::uint32_t state_of(__m512i bytes) {
  const __m512i by =
      _mm512_set_epi64(0, 0, Factors<128>::kLast, Factors<128>::kFirst, Factors<256>::kLast,
                       Factors<256>::kFirst, Factors<384>::kLast, Factors<384>::kFirst);
  const __m512i last = _mm512_maskz_mov_epi64(0xc0, bytes);
  alignas(64) std::uint64_t parts[8];
  _mm512_store_si512(parts, fold(bytes, by, last));
  const std::uint64_t first_half = parts[0] ^ parts[2] ^ parts[4] ^ parts[6];
  const std::uint64_t last_half = parts[1] ^ parts[3] ^ parts[5] ^ parts[7];
  return static_cast<std::uint32_t>(_mm_crc32_u64(_mm_crc32_u64(0, first_half), last_half));
}

}  // namespace

__attribute__((target("avx512f,vpclmulqdq,pclmul,sse4.2"))) std::uint32_t fold_crc32c(
    std::span<const char>& bytes, std::uint32_t state) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  __m512i a = _mm512_xor_si512(load(at), _mm512_maskz_set1_epi32(1, static_cast<int>(state)));
  __m512i b = load(at + kVector);
  __m512i c = load(at + 2 * kVector);
  __m512i d = load(at + 3 * kVector);
  const __m512i by_four = factors<2048>();
  for (at += 4 * kVector; end - at >= 4 * kVector; at += 4 * kVector) {
    a = fold(a, by_four, load(at));
    b = fold(b, by_four, load(at + kVector));
    c = fold(c, by_four, load(at + 2 * kVector));
    d = fold(d, by_four, load(at + 3 * kVector));
  }
  const __m512i by_one = factors<512>();
  d = fold(a, factors<1536>(), d);
  d = fold(b, factors<1024>(), d);
  d = fold(c, by_one, d);
  for (; end - at >= kVector; at += kVector) d = fold(d, by_one, load(at));
  bytes = {at, end};
  return state_of(d);
}

}  // namespace forebay

#else

#include "core/base/check.h"

namespace forebay {

std::uint32_t fold_crc32c(std::span<const char>&, std::uint32_t) {
  FOREBAY_CHECK(false);
  return 0;
}

}  // namespace forebay

#endif
