#include "actors/format/parquet/encoding/bit_unpack.h"

#include <array>
#include <cstring>
#include <utility>

namespace forebay::parquet {
namespace {

/// Eight numbers take as many bytes as one has bits, so each group begins at a byte. A constant
/// width lets the compiler unroll the group into loads, shifts and masks.
template <unsigned kWidth>
void unpack(const char* packed, std::size_t count, std::uint32_t* out) {
  constexpr auto kMask = static_cast<std::uint32_t>((std::uint64_t{1} << kWidth) - 1);
  for (const std::uint32_t* const end = out + count; out != end; out += 8, packed += kWidth) {
    for (unsigned i = 0; i < 8; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, packed + (i * kWidth >> 3), sizeof(word));
      out[i] = static_cast<std::uint32_t>(word >> (i * kWidth & 7)) & kMask;
    }
  }
}

template <std::size_t... kWidths>
constexpr auto table(std::index_sequence<kWidths...>) {
  return std::array{&unpack<kWidths>...};
}

constexpr auto kUnpack = table(std::make_index_sequence<33>());

}  // namespace

void unpack_bits(const char* packed, unsigned width, std::size_t count, std::uint32_t* out) {
  kUnpack[width](packed, count, out);
}

UnpackBits unpack_bits_for(CpuLevel level) {
  return level == CpuLevel::kBaseline ? &unpack_bits : &unpack_bits_avx2;
}

void unpack_wide_bits(const char* packed, unsigned width, std::size_t count, std::uint64_t* out) {
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  for (std::size_t i = 0, bit = 0; i < count; ++i, bit += width) {
    std::uint64_t low = 0;
    std::memcpy(&low, packed + (bit >> 3), sizeof(low));
    const unsigned shift = bit & 7;
    std::uint64_t value = low >> shift;
    // A number of more than 57 bits may reach into a ninth byte.
    if (shift + width > 64) {
      value |= std::uint64_t{static_cast<std::uint8_t>(packed[(bit >> 3) + 8])} << (64 - shift);
    }
    out[i] = value & mask;
  }
}

}  // namespace forebay::parquet
