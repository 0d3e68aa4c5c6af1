#pragma once

#include <cstddef>
#include <cstdint>

#include <emmintrin.h>

namespace forebay {

/// Finds the bytes of a CSV file that have a meaning (delimiters, newlines, quotes, NULs), 64 at a
/// time, with the SSE2 that every x86-64 has. A pure value; any thread.
class CsvBytes {
 public:
  static constexpr std::size_t kStep = 64;

  explicit CsvBytes(char delimiter) : delimiter_(_mm_set1_epi8(delimiter)) {}

  /// Bit i: at[i] is a newline or a quote. Reads 64 bytes.
  static std::uint64_t line_marks(const char* at) {
    return each_quarter(at, [](__m128i bytes) {
      return _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')),
                          _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
    });
  }

  /// Bit i: at[i] is a delimiter, a newline, a quote or a NUL. Reads 64 bytes.
  std::uint64_t field_marks(const char* at) const {
    return each_quarter(at, [delimiter = delimiter_](__m128i bytes) {
      const __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(bytes, delimiter),
                                        _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
      const __m128i odd = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                       _mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
      return _mm_or_si128(ends, odd);
    });
  }

 private:
  template <class Test>
  static std::uint64_t each_quarter(const char* at, Test test) {
    std::uint64_t bits = 0;
    for (unsigned quarter = 0; quarter < 4; ++quarter) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * quarter));
      const auto mask = static_cast<std::uint16_t>(_mm_movemask_epi8(test(bytes)));
      bits |= std::uint64_t{mask} << (16 * quarter);
    }
    return bits;
  }

  __m128i delimiter_;
};

}  // namespace forebay
