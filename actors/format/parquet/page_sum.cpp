#include "actors/format/parquet/page_sum.h"

#include <array>
#include <cstddef>

#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace forebay::parquet {
namespace {

std::uint32_t zlib_sum(std::span<const char> bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

#if defined(__x86_64__)
constexpr std::uint32_t kPolynomial = 0xedb88320;  // its bits reversed
constexpr std::ptrdiff_t kVector = sizeof(__m128i);
constexpr std::size_t kLeastFolded = 4 * kVector;

/// x to the power of `n` modulo the polynomial, bits reversed.
constexpr std::uint32_t power_of_x(int n) {
  std::uint32_t power = 0x8000'0000;
  for (; n > 0; --n) power = (power >> 1) ^ ((power & 1) != 0 ? kPolynomial : 0);
  return power;
}

#define FOREBAY_PRODUCTS_TARGET __attribute__((target("pclmul,sse4.1"), always_inline))

/// Factors that shift 16 bytes by kBits towards the end of the content, for the first 8 bytes and
/// for the last 8. In reversed bits a product has one power of x too many, and a 32-bit factor in
/// the low half of 64 bits has 32 too many.
template <int kBits>
FOREBAY_PRODUCTS_TARGET inline __m128i factors_of() {
  constexpr auto kFirst = static_cast<long long>(power_of_x(kBits + 64 - 33));
  constexpr auto kLast = static_cast<long long>(power_of_x(kBits - 33));
  return _mm_set_epi64x(kLast, kFirst);
}

FOREBAY_PRODUCTS_TARGET inline __m128i vector_at(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

FOREBAY_PRODUCTS_TARGET inline __m128i folded(__m128i bytes, __m128i by, __m128i next) {
  const __m128i products =
      _mm_xor_si128(_mm_clmulepi64_si128(bytes, by, 0x00), _mm_clmulepi64_si128(bytes, by, 0x11));
  return _mm_xor_si128(products, next);
}

/// Multiplies 64 bytes at a time (without carries) by powers of x and adds them to the 64 bytes
/// that follow, which keeps the remainder modulo the polynomial (Gopal and others, "Fast CRC
/// Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009). The last 16
/// bytes and what does not fill a vector are zlib's.
__attribute__((target("pclmul,sse4.1"))) std::uint32_t folded_sum(std::span<const char> bytes,
                                                                  std::uint32_t before) {
  if (bytes.size() < kLeastFolded) return zlib_sum(bytes, before);
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  __m128i a = _mm_xor_si128(vector_at(at), _mm_cvtsi32_si128(static_cast<int>(~before)));
  __m128i b = vector_at(at + kVector);
  __m128i c = vector_at(at + 2 * kVector);
  __m128i d = vector_at(at + 3 * kVector);
  const __m128i by_four = factors_of<512>();
  for (at += 4 * kVector; end - at >= 4 * kVector; at += 4 * kVector) {
    a = folded(a, by_four, vector_at(at));
    b = folded(b, by_four, vector_at(at + kVector));
    c = folded(c, by_four, vector_at(at + 2 * kVector));
    d = folded(d, by_four, vector_at(at + 3 * kVector));
  }
  const __m128i by_one = factors_of<128>();
  b = folded(a, by_one, b);
  c = folded(b, by_one, c);
  d = folded(c, by_one, d);
  for (; end - at >= kVector; at += kVector) d = folded(d, by_one, vector_at(at));
  std::array<char, kVector> last{};
  _mm_storeu_si128(reinterpret_cast<__m128i*>(last.data()), d);
  // zlib complements the sum before: a state of 0.
  constexpr std::uint32_t kNothing = ~std::uint32_t{0};
  return zlib_sum({at, end}, zlib_sum(last, kNothing));
}
#endif

}  // namespace

std::vector<PageSum> page_sum_methods() {
  std::vector<PageSum> methods;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1"))
    methods.push_back(&folded_sum);
#endif
  methods.push_back(&zlib_sum);
  return methods;
}

std::uint32_t page_sum(std::span<const char> bytes, std::uint32_t before) {
  static const PageSum fastest = page_sum_methods().front();
  return fastest(bytes, before);
}

}  // namespace forebay::parquet
