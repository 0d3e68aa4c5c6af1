#include "actors/format/criteo/criteo_kernel.h"

#include <cstring>

#include <emmintrin.h>

#include "actors/format/criteo/criteo_pass.h"

namespace forebay {
namespace {

constexpr std::uint64_t kZeros = 0x3030303030303030;
constexpr std::uint64_t kTops = 0x8080808080808080;

/// Returns the `size` ≤ 8 bytes at `at` as the last bytes of a word, with '0' before them.
std::uint64_t word_of(const char* at, std::size_t size) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  // Shifts in two halves, since a shift by 64 bits is undefined.
  const std::size_t half = 4 * size;
  return word << (32 - half) << (32 - half) | kZeros >> half >> half;
}

/// Sets bit 7 of each byte that is not a digit.
std::uint64_t not_digits(std::uint64_t word) {
  const std::uint64_t digits = word ^ kZeros;  // 0 … 9 for digits, and only for them.
  return (((digits & ~kTops) + 0x7676767676767676) | digits) & kTops;
}

std::uint64_t eight_digits(std::uint64_t word) {
  word -= kZeros;
  word = word * 10 + (word >> 8);
  return (((word & 0x000000FF000000FF) * 0x000F424000000064) +
          (((word >> 16) & 0x000000FF000000FF) * 0x0000271000000001)) >>
         32;
}

/// Empty fields are frequent and random, so the code does not branch on them.
void read_int(const char* at, std::size_t size, float& value, std::uint64_t& odd) {
  if (size > 8) [[unlikely]] {
    odd = 1;
    return;
  }
  const std::uint64_t minus = *at == '-' ? 1 : 0;  // Always 0 for an empty field.
  const std::size_t digits = size - minus;
  const std::uint64_t word = word_of(at + minus, digits);
  odd |= not_digits(word) | (minus & (digits - 1) >> 63);
  const std::uint64_t number = (eight_digits(word) ^ (0 - minus)) + minus;
  const auto bits =
      __builtin_bit_cast(std::uint32_t, static_cast<float>(static_cast<std::int32_t>(number)));
  const auto empty = static_cast<std::uint32_t>((size - 1) >> 63);
  value = __builtin_bit_cast(float, bits ^ ((bits ^ kMissingBits) & (0 - empty)));
}

void read_token(const char* at, std::size_t size, std::int64_t& value, std::uint64_t& odd) {
  if (size > 8) [[unlikely]] {
    odd = 1;
    return;
  }
  const std::uint64_t word = word_of(at, size);
  // Letters: in lower case a … f become 1 … 6, digits lie below '@' and keep bit 6 clear.
  const std::uint64_t letters = word >> 6 & 0x0101010101010101;
  const std::uint64_t letter_bytes = letters * 0xff;
  const std::uint64_t rank = (word & 0x1f1f1f1f1f1f1f1f) & letter_bytes;  // 1 … 6 for a … f, A … F.
  const std::uint64_t past_f = (rank + 0x7979797979797979) & kTops;   // > 6
  const std::uint64_t below_a = (kTops | rank) - 0x0101010101010101;  // Bit 7 clear: rank 0.
  const std::uint64_t bad_letters = (past_f | (~below_a & kTops)) & (letter_bytes & kTops);
  odd |= (word & kTops) | bad_letters | (not_digits(word) & ~letter_bytes);
  std::uint64_t nibbles = (word & 0x0f0f0f0f0f0f0f0f) + letters * 9;
  nibbles = (nibbles * 0x10 + (nibbles >> 8)) & 0x00ff00ff00ff00ff;
  nibbles = (nibbles * 0x100 + (nibbles >> 16)) & 0x0000ffff0000ffff;
  value = static_cast<std::int64_t>((nibbles * 0x10000 + (nibbles >> 32)) & 0xffffffff);
}

/// Reads the fields of a column one by one, eight bytes at a time.
struct WordReader {
  static void ints(const char* text, const FieldColumn& column, float* values, std::uint64_t* odd) {
    for (std::size_t row = 0; row < column.rows; ++row) {
      read_int(text + column.begin[row], column.size_of(row), values[row], odd[row]);
    }
  }
  static void tokens(const char* text, const FieldColumn& column, std::int64_t* ids,
                     std::uint64_t* odd) {
    for (std::size_t row = 0; row < column.rows; ++row) {
      read_token(text + column.begin[row], column.size_of(row), ids[row], odd[row]);
    }
  }
};

struct Sse2Step {
  static Marks64 read(const char* at) {
    Marks64 marks;
    for (unsigned quarter = 0; quarter < 4; ++quarter) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * quarter));
      const __m128i newlines = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'));
      const __m128i ends = _mm_or_si128(newlines, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')));
      const auto bits = [quarter](__m128i mask) {
        const auto sixteen = static_cast<std::uint16_t>(_mm_movemask_epi8(mask));
        return std::uint64_t{sixteen} << (16 * quarter);
      };
      marks.ends |= bits(ends);
      marks.newlines |= bits(newlines);
    }
    return marks;
  }
  static void write(std::uint64_t ends, std::int32_t base, std::int32_t* out) {
    write_offsets(ends, base, out);
  }
};

}  // namespace

const CriteoKernel kCriteoBaseline{&find_fields<Sse2Step>, &decode_columns<WordReader>};

const CriteoKernel& criteo_kernel(CpuLevel level) {
  switch (level) {
    case CpuLevel::kAvx512:
      return kCriteoAvx512;
    case CpuLevel::kAvx2:
      return kCriteoAvx2;
    case CpuLevel::kBaseline:
      break;
  }
  return kCriteoBaseline;
}

}  // namespace forebay
