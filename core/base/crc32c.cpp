#include "core/base/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace forebay {
namespace {

/// The polynomial of CRC-32C (Castagnoli), its bits reversed.
constexpr std::uint32_t kPolynomial = 0x82f63b78;

/// `power` times x modulo the polynomial, bits reversed.
constexpr std::uint32_t times_x(std::uint32_t power) {
  return (power >> 1) ^ ((power & 1) != 0 ? kPolynomial : 0);
}

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = times_x(value);
    table[i] = value;
  }
  return table;
}

constexpr auto kTable = make_table();

std::uint32_t by_table(std::span<const char> bytes, std::uint32_t state) {
  for (const char byte : bytes) {
    state = (state >> 8) ^ kTable[(state ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return state;
}

#if defined(__x86_64__)
std::uint64_t word_at(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// x to the power of `n` modulo the polynomial, bits reversed.
constexpr std::uint32_t power_of_x(int n) {
  std::uint32_t power = 0x8000'0000;
  for (; n > 0; --n) power = times_x(power);
  return power;
}

__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const char> bytes,
                                                               std::uint32_t state) {
  std::uint64_t wide = state;
  for (; bytes.size() >= sizeof wide; bytes = bytes.subspan(sizeof wide)) {
    wide = __builtin_ia32_crc32di(wide, word_at(bytes.data()));
  }
  state = static_cast<std::uint32_t>(wide);
  for (const char byte : bytes) {
    state = __builtin_ia32_crc32qi(state, static_cast<unsigned char>(byte));
  }
  return state;
}

#define FOREBAY_STREAMS_TARGET __attribute__((target("sse4.2,pclmul")))

/// The state after kBytes more zero bytes. The product has one power of x too many, and its
/// reduction by the instruction adds 32.
template <int kBytes>
FOREBAY_STREAMS_TARGET std::uint64_t after_zeros(std::uint64_t state) {
  constexpr std::uint32_t kBy = power_of_x(8 * kBytes - 33);
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(state)),
                                               _mm_cvtsi64_si128(kBy), 0);
  return __builtin_ia32_crc32di(0, static_cast<std::uint64_t>(_mm_cvtsi128_si64(product)));
}

/// Consumes 3 * kBytes at a time as three interleaved streams: the CRC instruction has a latency of
/// three cycles but can start in every cycle.
template <int kBytes>
FOREBAY_STREAMS_TARGET std::uint32_t by_three(std::span<const char>& bytes, std::uint32_t state) {
  for (; bytes.size() >= 3 * kBytes; bytes = bytes.subspan(3 * kBytes)) {
    std::uint64_t first = state;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (const char* at = bytes.data(); at < bytes.data() + kBytes; at += sizeof(std::uint64_t)) {
      first = __builtin_ia32_crc32di(first, word_at(at));
      second = __builtin_ia32_crc32di(second, word_at(at + kBytes));
      third = __builtin_ia32_crc32di(third, word_at(at + 2 * kBytes));
    }
    second ^= after_zeros<kBytes>(first);
    state = static_cast<std::uint32_t>(after_zeros<kBytes>(second) ^ third);
  }
  return state;
}

FOREBAY_STREAMS_TARGET std::uint32_t by_streams(std::span<const char> bytes, std::uint32_t state) {
  state = by_three<4096>(bytes, state);
  state = by_three<256>(bytes, state);
  return by_instruction(bytes, state);
}

#define FOREBAY_FOLDING_TARGET \
  __attribute__((target("avx512f,vpclmulqdq,pclmul,sse4.2"), always_inline))

constexpr std::ptrdiff_t kVector = sizeof(__m512i);

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

/// The minimum number of bytes to fold.
constexpr std::size_t kLeastFolded = 256;

/// Multiplies 256 bytes at a time (without carries) by powers of x and adds them to the 256 bytes
/// that follow, which keeps the remainder modulo the polynomial (Gopal and others, "Fast CRC
/// Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009). Leaves fewer
/// than 64 bytes, and less than kLeastFolded, to the CRC instruction.
__attribute__((target("avx512f,vpclmulqdq,pclmul,sse4.2"))) std::uint32_t by_folding(
    std::span<const char> bytes, std::uint32_t state) {
  if (bytes.size() < kLeastFolded) return by_instruction(bytes, state);
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
  return by_instruction({at, end}, state_of(d));
}

#endif

}  // namespace

std::vector<Crc32cMethod> crc32c_methods() {
  std::vector<Crc32cMethod> methods;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq")) {
    methods.push_back(&by_folding);
  }
  if (__builtin_cpu_supports("sse4.2")) {
    if (__builtin_cpu_supports("pclmul")) methods.push_back(&by_streams);
    methods.push_back(&by_instruction);
  }
#endif
  methods.push_back(&by_table);
  return methods;
}

std::uint32_t crc32c(std::span<const char> bytes, std::uint32_t before) {
  static const Crc32cMethod fastest = crc32c_methods().front();
  return ~fastest(bytes, ~before);
}

}  // namespace forebay
