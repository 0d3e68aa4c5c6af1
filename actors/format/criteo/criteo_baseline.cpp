#include <emmintrin.h>

#include "actors/format/criteo/criteo_words.h"

namespace forebay {
namespace {

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

}  // namespace forebay
