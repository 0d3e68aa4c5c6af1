#include <immintrin.h>

#include "actors/format/criteo_words.h"

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

}  // namespace

const CriteoKernel kCriteoAvx2{&find_fields<Avx2Step>, &decode_words};

}  // namespace forebay
