#include <immintrin.h>

#include <array>
#include <cstring>
#include <utility>

#include "actors/format/parquet/encoding/bit_unpack.h"

namespace forebay::parquet {
namespace {

/// Mask of the lowest `width` bits of each `lane` bits of a word.
constexpr std::uint64_t lanes_mask(unsigned width, unsigned lane) {
  std::uint64_t mask = 0;
  for (unsigned bit = 0; bit < 64; bit += lane) mask |= ((std::uint64_t{1} << width) - 1) << bit;
  return mask;
}

std::uint64_t word_at(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

/// Deposits eight numbers into lanes of 8 bits, or twice four into lanes of 16, and widens them.
template <unsigned kWidth>
void group_of_eight(const char* packed, __m256i* out) {
  if constexpr (kWidth <= 8) {
    const std::uint64_t bytes = _pdep_u64(word_at(packed), lanes_mask(kWidth, 8));
    _mm256_storeu_si256(out,
                        _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(bytes))));
  } else {
    // The fifth number begins at a byte or in its middle, so its word holds all four.
    constexpr unsigned kSecond = 4 * kWidth;
    static_assert(kWidth <= 16);
    constexpr std::uint64_t kMask = lanes_mask(kWidth, 16);
    const std::uint64_t low = _pdep_u64(word_at(packed), kMask);
    const std::uint64_t high = _pdep_u64(word_at(packed + kSecond / 8) >> kSecond % 8, kMask);
    const __m128i both = _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
    _mm256_storeu_si256(out, _mm256_cvtepu16_epi32(both));
  }
}

template <unsigned kWidth>
void unpack_groups(const char* packed, std::size_t count, std::uint32_t* out) {
  for (std::size_t i = 0; i < count; i += 8, packed += kWidth)
    group_of_eight<kWidth>(packed, reinterpret_cast<__m256i*>(out + i));
}

template <std::size_t... kWidths>
constexpr auto groups_table(std::index_sequence<kWidths...>) {
  return std::array{&unpack_groups<kWidths>...};
}

// Of more than 16 bits the portable loop is as fast.
constexpr auto kGroups = groups_table(std::make_index_sequence<17>());

}  // namespace

void unpack_bits_avx2(const char* packed, unsigned width, std::size_t count, std::uint32_t* out) {
  if (width < kGroups.size())
    kGroups[width](packed, count, out);
  else
    unpack_bits(packed, width, count, out);
}

}  // namespace forebay::parquet
