#include <immintrin.h>

#include "actors/format/criteo/criteo_pass.h"

namespace forebay {
namespace {

struct Avx2Step {
  static Marks64 read(const char* at) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + 32));
    const auto equal = [low, high](char letter) {
      const __m256i all = _mm256_set1_epi8(letter);
      const auto low_bits =
          static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, all)));
      const auto high_bits =
          static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, all)));
      return std::uint64_t{high_bits} << 32 | low_bits;
    };
    const std::uint64_t newlines = equal('\n');
    return {equal('\t') | newlines, newlines};
  }
  static void write(std::uint64_t ends, std::int32_t base, std::int32_t* out) {
    write_offsets(ends, base, out);
  }
};

/// Reads the fields of a column four at a time.
struct Avx2Reader {
  static void ints(const char* text, const FieldColumn& column, float* values, std::uint64_t* odd) {
    const __m256i zeros = _mm256_set1_epi8('0');
    for (std::size_t row = 0; row < column.rows; row += 4) {
      const Words words = load_words(text, column, row);
      const __m256i first = _mm256_and_si256(words.raw, _mm256_set1_epi64x(0xff));
      const __m256i minus = _mm256_cmpeq_epi64(first, _mm256_set1_epi64x('-'));
      const __m256i letters =
          _mm256_sub_epi64(words.bits, _mm256_and_si256(minus, _mm256_set1_epi64x(8)));
      const __m256i before = _mm256_srlv_epi64(_mm256_set1_epi64x(-1), letters);
      const __m256i digits =
          _mm256_sub_epi8(_mm256_blendv_epi8(moved(words), zeros, before), zeros);
      const __m256i alone =
          _mm256_and_si256(minus, _mm256_cmpeq_epi64(letters, _mm256_setzero_si256()));
      gather_odd(words, _mm256_or_si256(above(digits, 9), alone), odd + row);
      const __m256i pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010A));  // 10 and 1
      const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00010064));  // 100 and 1
      const __m256i number = _mm256_add_epi64(_mm256_mul_epu32(fours, _mm256_set1_epi64x(10000)),
                                              _mm256_srli_epi64(fours, 32));
      const __m256i with_sign = _mm256_sub_epi64(_mm256_xor_si256(number, minus), minus);
      const __m256i empty = _mm256_cmpeq_epi64(words.bits, _mm256_setzero_si256());
      const __m128 missing = _mm_castsi128_ps(_mm_set1_epi32(static_cast<int>(kMissingBits)));
      _mm_store_ps(values + row, _mm_blendv_ps(_mm_cvtepi32_ps(low_halves(with_sign)), missing,
                                               _mm_castsi128_ps(low_halves(empty))));
    }
  }

  static void tokens(const char* text, const FieldColumn& column, std::int64_t* ids,
                     std::uint64_t* odd) {
    // The bytes of a word are at 0, 2, 4, 6, highest first; the shuffle reverses them within each
    // word.
    const __m256i order = _mm256_broadcastsi128_si256(
        _mm_set_epi8(-1, -1, -1, -1, 8, 10, 12, 14, -1, -1, -1, -1, 0, 2, 4, 6));
    for (std::size_t row = 0; row < column.rows; row += 4) {
      const Words words = load_words(text, column, row);
      const __m256i before = _mm256_srlv_epi64(_mm256_set1_epi8('0'), words.bits);
      const __m256i letters = _mm256_or_si256(moved(words), before);
      const __m256i digits = _mm256_sub_epi8(letters, _mm256_set1_epi8('0'));
      const __m256i lower = _mm256_or_si256(letters, _mm256_set1_epi8(0x20));
      const __m256i past_a = _mm256_sub_epi8(lower, _mm256_set1_epi8('a'));
      const __m256i no_digit = above(digits, 9);
      gather_odd(words, _mm256_and_si256(no_digit, above(past_a, 5)), odd + row);
      const __m256i nibbles =
          _mm256_blendv_epi8(digits, _mm256_add_epi8(past_a, _mm256_set1_epi8(10)), no_digit);
      const __m256i bytes = _mm256_maddubs_epi16(nibbles, _mm256_set1_epi16(0x0110));  // 16 and 1
      _mm256_store_si256(reinterpret_cast<__m256i*>(ids + row), _mm256_shuffle_epi8(bytes, order));
    }
  }

 private:
  struct Words {
    __m256i raw;   // The eight bytes at the field's begin.
    __m256i bits;  // 8 * bytes of the field.
  };

  static Words load_words(const char* text, const FieldColumn& column, std::size_t row) {
    const auto four = [row](const std::int32_t* numbers) {
      return _mm_load_si128(reinterpret_cast<const __m128i*>(numbers + row));
    };
    const __m256i raw =
        _mm256_i32gather_epi64(reinterpret_cast<const long long*>(text), four(column.begin), 1);
    return {raw, _mm256_slli_epi64(_mm256_cvtepi32_epi64(four(column.size)), 3)};
  }

  /// Shifts the letters of each word to the word's end and fills zeros before them.
  static __m256i moved(const Words& words) {
    return _mm256_sllv_epi64(words.raw, _mm256_sub_epi64(_mm256_set1_epi64x(64), words.bits));
  }

  /// All ones in each byte above `most`.
  static __m256i above(__m256i bytes, char most) {
    const __m256i within = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(most)), bytes);
    return _mm256_xor_si256(within, _mm256_set1_epi8(-1));
  }

  static void gather_odd(const Words& words, __m256i found, std::uint64_t* odd) {
    auto* const at = reinterpret_cast<__m256i*>(odd);
    const __m256i too_long = _mm256_cmpgt_epi64(words.bits, _mm256_set1_epi64x(64));
    _mm256_store_si256(at,
                       _mm256_or_si256(_mm256_load_si256(at), _mm256_or_si256(found, too_long)));
  }

  static __m128i low_halves(__m256i words) {
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    return _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(words, order));
  }
};

}  // namespace

const CriteoKernel kCriteoAvx2{&find_fields<Avx2Step>, &decode_columns<Avx2Reader>};

}  // namespace forebay
