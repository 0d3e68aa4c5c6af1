#include <immintrin.h>

#include "actors/format/criteo/criteo_pass.h"

namespace forebay {
namespace {

constexpr std::size_t kLanes = 16;  // Rows that one vector of 32-bit numbers holds.
constexpr std::size_t kParts = CriteoGroup::kRows / kLanes;
static_assert(kParts == 2);

/// 0, 1, 2 … 63.
struct Counting {
  alignas(64) std::uint8_t values[64];
  constexpr Counting() : values{} {
    for (unsigned i = 0; i < 64; ++i) values[i] = static_cast<std::uint8_t>(i);
  }
};
constexpr Counting kCounting;

struct Avx512Step {
  static Marks64 read(const char* at) {
    const __m512i bytes = _mm512_loadu_si512(at);
    const std::uint64_t newlines = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\n'));
    return {_mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\t')) | newlines, newlines};
  }

  static void write(std::uint64_t ends, std::int32_t base, std::int32_t* out) {
    const __m512i places = _mm512_maskz_compress_epi8(ends, _mm512_load_si512(kCounting.values));
    const __m512i bases = _mm512_set1_epi32(base);
    const auto put = [bases, out](__m128i some, unsigned slot) {
      const __m512i offsets = _mm512_add_epi32(_mm512_cvtepu8_epi32(some), bases);
      _mm512_storeu_si512(out + kLanes * slot, offsets);
    };
    put(_mm512_castsi512_si128(places), 0);
    put(_mm512_extracti32x4_epi32(places, 1), 1);
    if (__builtin_popcountll(ends) > 32) [[unlikely]] {
      put(_mm512_extracti32x4_epi32(places, 2), 2);
      put(_mm512_extracti32x4_epi32(places, 3), 3);
    }
  }
};

/// Transposes 16 rows of 16 numbers, `stride` apart, into 16 consecutive columns of 16.
void transpose(const std::int32_t* rows, std::size_t stride, std::int32_t* columns) {
  __m512i a[16];
  __m512i b[16];
  for (std::size_t i = 0; i < 16; ++i) a[i] = _mm512_loadu_si512(rows + stride * i);
  for (std::size_t i = 0; i < 16; i += 2) {  // Numbers of two rows beside each other,
    b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
    b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
  }
  for (std::size_t i = 0; i < 16; i += 4) {  // of four: a quarter of a column each,
    a[i] = _mm512_unpacklo_epi64(b[i], b[i + 2]);
    a[i + 1] = _mm512_unpackhi_epi64(b[i], b[i + 2]);
    a[i + 2] = _mm512_unpacklo_epi64(b[i + 1], b[i + 3]);
    a[i + 3] = _mm512_unpackhi_epi64(b[i + 1], b[i + 3]);
  }
  for (std::size_t i = 0; i < 4; ++i) {  // of eight, the even columns and the odd,
    for (std::size_t half = 0; half < 16; half += 8) {
      b[half + i] = _mm512_shuffle_i32x4(a[half + i], a[half + i + 4], 0x88);
      b[half + i + 4] = _mm512_shuffle_i32x4(a[half + i], a[half + i + 4], 0xdd);
    }
  }
  for (std::size_t i = 0; i < 8; ++i) {  // of all sixteen.
    _mm512_store_si512(columns + kLanes * i, _mm512_shuffle_i32x4(b[i], b[i + 8], 0x88));
    _mm512_store_si512(columns + kLanes * (i + 8), _mm512_shuffle_i32x4(b[i], b[i + 8], 0xdd));
  }
}

/// A group's marks, transposed so that one vector holds the marks of one field of 16 rows.
/// (Gathering the marks from their row order instead took a third of the decoding time.)
class TurnedMarks {
 public:
  explicit TurnedMarks(const CriteoGroup& group) {
    for (std::size_t part = 0; part < kParts; ++part) {
      const std::int32_t* const rows = group.marks + CriteoRow::kFields * kLanes * part;
      for (std::size_t field = 0; field < kFields; field += kLanes) {
        transpose(rows + field, CriteoRow::kFields, marks_[part][field]);
      }
    }
  }

  /// The marks with number `field` of each of the part's rows.
  __m512i of(std::size_t part, std::size_t field) const {
    return _mm512_load_si512(marks_[part][field]);
  }

 private:
  // The mark behind the last field is the next row's first mark; marks behind that one are never
  // read.
  static constexpr std::size_t kFields = (CriteoRow::kFields / kLanes + 1) * kLanes;

  alignas(64) std::int32_t marks_[kParts][kFields][kLanes];
};

/// The value of each ASCII hexadecimal digit; 0x80 for any other letter.
struct HexTable {
  alignas(64) std::uint8_t values[128];
  constexpr HexTable() : values{} {
    for (std::uint8_t& value : values) value = 0x80;
    for (unsigned i = 0; i < 10; ++i) values['0' + i] = static_cast<std::uint8_t>(i);
    for (unsigned i = 10; i < 16; ++i) {
      values['a' + i - 10] = values['A' + i - 10] = static_cast<std::uint8_t>(i);
    }
  }
};
constexpr HexTable kHex;

/// One field of 16 rows: where it begins, its bytes, and the same in halves of eight rows.
struct Fields {
  __m512i begin;
  __m512i bytes;
};

/// Eight fields as words, first letters last, with the shift in bits.
struct Words {
  __m512i raw;   // The eight bytes at the field's begin.
  __m512i bits;  // 8 * bytes of the field.
};

template <int kHalf>
Words load_words(const char* text, const Fields& fields) {
  const __m256i begin = _mm512_extracti64x4_epi64(fields.begin, kHalf);
  const __m256i bytes = _mm512_extracti64x4_epi64(fields.bytes, kHalf);
  return {_mm512_i32gather_epi64(begin, text, 1),
          _mm512_slli_epi64(_mm512_cvtepu32_epi64(bytes), 3)};
}

/// Moves the letters of each word to its end and puts '0' before them. `letters` ≤ `words.bits`
/// counts the bits that are kept.
__m512i align_words(const Words& words, __m512i letters) {
  const __m512i zeros = _mm512_set1_epi8('0');
  const __m512i moved =
      _mm512_sllv_epi64(words.raw, _mm512_sub_epi64(_mm512_set1_epi64(64), words.bits));
  const __m512i before = _mm512_srlv_epi64(_mm512_set1_epi64(-1), letters);
  return _mm512_ternarylogic_epi64(before, zeros, moved, 0xCA);  // before ? zeros : moved
}

/// Adds the marks of `a` and `b` to `odd`: bit 7 of a byte is set if its word is not plain.
__m512i gather_odd(__m512i odd, __m512i a, __m512i b) {
  return _mm512_ternarylogic_epi64(odd, a, b, 0xFE);
}

/// Eight integers of at most 8 characters, as 64-bit numbers.
__m512i read_ints(const Words& words, __m512i& odd) {
  const __m512i first = _mm512_and_si512(words.raw, _mm512_set1_epi64(0xff));
  const __mmask8 minus = _mm512_cmpeq_epi64_mask(first, _mm512_set1_epi64('-'));
  const __m512i letters =
      _mm512_mask_sub_epi64(words.bits, minus, words.bits, _mm512_set1_epi64(8));
  const __mmask8 alone = _mm512_mask_testn_epi64_mask(minus, letters, letters);
  const __m512i digits = _mm512_sub_epi8(align_words(words, letters), _mm512_set1_epi8('0'));
  odd = gather_odd(odd, digits, _mm512_add_epi8(digits, _mm512_set1_epi8(0x76)));
  odd = _mm512_mask_mov_epi64(odd, alone, _mm512_set1_epi64(-1));
  const __m512i pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010A));  // 10 and 1
  const __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x00010064));  // 100 and 1
  const __m512i number = _mm512_add_epi64(_mm512_mul_epu32(fours, _mm512_set1_epi64(10000)),
                                          _mm512_srli_epi64(fours, 32));
  return _mm512_mask_sub_epi64(number, minus, _mm512_setzero_si512(), number);
}

/// Eight tokens of at most 8 hexadecimal digits, as 64-bit numbers.
__m512i read_tokens(const Words& words, __m512i& odd) {
  const __m512i letters = align_words(words, words.bits);
  const __m512i nibbles = _mm512_permutex2var_epi8(_mm512_load_si512(kHex.values), letters,
                                                   _mm512_load_si512(kHex.values + 64));
  odd = gather_odd(odd, letters, nibbles);
  const __m512i bytes = _mm512_maddubs_epi16(nibbles, _mm512_set1_epi16(0x0110));  // 16 and 1
  // The bytes of a word are at 0, 2, 4, 6, highest first; the shuffle reverses them within each
  // word.
  const __m512i order = _mm512_broadcast_i32x4(
      _mm_set_epi8(-1, -1, -1, -1, 8, 10, 12, 14, -1, -1, -1, -1, 0, 2, 4, 6));
  return _mm512_shuffle_epi8(bytes, order);
}

/// One pass over a group, column by column, 16 rows at a time in kParts parts. Appended values
/// become part of the target only in `commit`.
class GroupPass {
 public:
  GroupPass(const char* text, const CriteoGroup& group, std::size_t rows, std::uint32_t picked,
            CriteoTarget& target)
      : text_(text), marks_(group), target_(target) {
    const std::uint32_t inside = rows == CriteoGroup::kRows ? ~0U : (std::uint32_t{1} << rows) - 1;
    for (std::size_t part = 0; part < kParts; ++part) {
      inside_[part] = static_cast<__mmask16>(inside >> (kLanes * part));
      picked_[part] = static_cast<__mmask16>((picked & inside) >> (kLanes * part));
      begin_[part] = next_begin(part, 0);
      odd_[2 * part] = odd_[2 * part + 1] = _mm512_setzero_si512();
    }
    num_picked_[0] = static_cast<std::size_t>(__builtin_popcount(picked_[0]));
    num_picked_[1] = static_cast<std::size_t>(__builtin_popcount(picked_[1]));
  }

  void run() {
    labels();
    for (std::size_t i = 0; i < CriteoRow::kInts; ++i) ints(i);
    for (std::size_t i = 0; i + 1 < CriteoRow::kTokens; ++i) tokens(i, false);
    tokens(CriteoRow::kTokens - 1, true);
  }

  /// Bit i: row i is not plain.
  std::uint32_t odd_rows() const {
    const __m512i tops = _mm512_set1_epi8(static_cast<char>(0x80));
    std::uint32_t rows = 0;
    for (std::size_t half = 0; half < 2 * kParts; ++half) {
      rows |= std::uint32_t{_mm512_test_epi64_mask(odd_[half], tops)} << (8 * half);
    }
    for (std::size_t part = 0; part < kParts; ++part) {
      rows |= std::uint32_t{too_long_[part]} << (kLanes * part);
    }
    return rows & (std::uint32_t{inside_[1]} << kLanes | inside_[0]);
  }

  void commit() {
    target_.rows += num_picked_[0] + num_picked_[1];
    for (std::size_t i = 0; i < CriteoRow::kTokens; ++i) {
      if (target_.tokens[i] != nullptr) target_.tokens[i]->count = counts_[i];
    }
  }

 private:
  __m512i next_begin(std::size_t part, std::size_t field) const {
    return _mm512_add_epi32(marks_.of(part, field), _mm512_set1_epi32(1));
  }

  /// Returns field `field` of the part's rows; the next call must take the next field.
  Fields take_field(std::size_t part, std::size_t field) {
    const __m512i end = marks_.of(part, field + 1);
    const Fields fields{begin_[part], _mm512_sub_epi32(end, begin_[part])};
    begin_[part] = _mm512_add_epi32(end, _mm512_set1_epi32(1));
    return fields;
  }

  void check_length(std::size_t part, __m512i bytes) {
    too_long_[part] = static_cast<__mmask16>(too_long_[part] |
                                             _mm512_cmpgt_epu32_mask(bytes, _mm512_set1_epi32(8)));
  }

  void put_floats(std::size_t part, __m512 values, float* column) {
    float* const at = column + target_.rows + (part == 0 ? 0 : num_picked_[0]);
    _mm512_storeu_ps(
        at, picked_[part] == 0xffff ? values : _mm512_maskz_compress_ps(picked_[part], values));
  }

  void labels() {
    for (std::size_t part = 0; part < kParts; ++part) {
      const Fields fields = take_field(part, 0);
      const __m512i letters =
          _mm512_and_si512(_mm512_i32gather_epi32(fields.begin, text_, 1), _mm512_set1_epi32(0xff));
      const __m512i values = _mm512_sub_epi32(letters, _mm512_set1_epi32('0'));
      too_long_[part] =
          static_cast<__mmask16>(_mm512_cmpneq_epi32_mask(fields.bytes, _mm512_set1_epi32(1)) |
                                 _mm512_cmpgt_epu32_mask(values, _mm512_set1_epi32(1)));
      put_floats(part, _mm512_cvtepi32_ps(values), target_.labels);
    }
  }

  void ints(std::size_t i) {
    for (std::size_t part = 0; part < kParts; ++part) {
      const Fields fields = take_field(part, 1 + i);
      check_length(part, fields.bytes);
      const __m512i low = read_ints(load_words<0>(text_, fields), odd_[2 * part]);
      const __m512i high = read_ints(load_words<1>(text_, fields), odd_[2 * part + 1]);
      if (target_.ints[i] == nullptr) continue;
      const __m512i numbers = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(low)),
                                                 _mm512_cvtepi64_epi32(high), 1);
      const __mmask16 empty = _mm512_testn_epi32_mask(fields.bytes, fields.bytes);
      const __m512i missing = _mm512_set1_epi32(static_cast<int>(kMissingBits));
      const __m512 values =
          _mm512_mask_mov_ps(_mm512_cvtepi32_ps(numbers), empty, _mm512_castsi512_ps(missing));
      put_floats(part, values, target_.ints[i]);
    }
  }

  void tokens(std::size_t i, bool last_of_row) {
    SparseFill* const column = target_.tokens[i];
    std::size_t count = column == nullptr ? 0 : column->count;
    std::size_t row = target_.rows;
    for (std::size_t part = 0; part < kParts; ++part) {
      Fields fields = take_field(part, 1 + CriteoRow::kInts + i);
      if (last_of_row) drop_return(part, fields);
      check_length(part, fields.bytes);
      const __m512i low = read_tokens(load_words<0>(text_, fields), odd_[2 * part]);
      const __m512i high = read_tokens(load_words<1>(text_, fields), odd_[2 * part + 1]);
      if (column == nullptr) continue;
      const __mmask16 present =
          _mm512_mask_test_epi32_mask(picked_[part], fields.bytes, fields.bytes);
      put_offsets(part, present, row, count, *column);
      count = put_ids(low, static_cast<__mmask8>(present), count, *column);
      count = put_ids(high, static_cast<__mmask8>(present >> 8), count, *column);
      row += num_picked_[part];
    }
    counts_[i] = count;
  }

  void drop_return(std::size_t part, Fields& fields) const {
    const __m512i last =
        _mm512_add_epi32(fields.begin, _mm512_sub_epi32(fields.bytes, _mm512_set1_epi32(1)));
    const __mmask16 some = _mm512_mask_test_epi32_mask(inside_[part], fields.bytes, fields.bytes);
    const __m512i letters =
        _mm512_and_si512(_mm512_mask_i32gather_epi32(_mm512_setzero_si512(), some, last, text_, 1),
                         _mm512_set1_epi32(0xff));
    const __mmask16 returns = _mm512_cmpeq_epi32_mask(letters, _mm512_set1_epi32('\r'));
    fields.bytes = _mm512_mask_sub_epi32(fields.bytes, returns, fields.bytes, _mm512_set1_epi32(1));
  }

  static std::size_t put_ids(__m512i ids, __mmask8 present, std::size_t count, SparseFill& column) {
    _mm512_storeu_si512(column.values + count, _mm512_maskz_compress_epi64(present, ids));
    return count + static_cast<std::size_t>(__builtin_popcount(present));
  }

  void put_offsets(std::size_t part, __mmask16 present, std::size_t row, std::size_t count,
                   SparseFill& column) {
    if (!column.jagged) {
      if (present == picked_[part]) return;
      column.start_offsets(row);
    }
    // Lane i counts the ids of rows 0 … i.
    const __m512i up_to = _mm512_set_epi32(0xffff, 0x7fff, 0x3fff, 0x1fff, 0xfff, 0x7ff, 0x3ff,
                                           0x1ff, 0xff, 0x7f, 0x3f, 0x1f, 0xf, 0x7, 0x3, 0x1);
    const __m512i ids = _mm512_popcnt_epi32(_mm512_and_si512(_mm512_set1_epi32(present), up_to));
    const __m512i offsets = _mm512_add_epi32(ids, _mm512_set1_epi32(static_cast<int>(count)));
    _mm512_storeu_si512(
        column.offsets + row + 1,
        picked_[part] == 0xffff ? offsets : _mm512_maskz_compress_epi32(picked_[part], offsets));
  }

  const char* const text_;
  const TurnedMarks marks_;
  CriteoTarget& target_;
  __m512i begin_[kParts];
  __m512i odd_[2 * kParts];
  __mmask16 inside_[kParts];
  __mmask16 picked_[kParts];
  __mmask16 too_long_[kParts];  // Rows with a field too long, or another label than 0 and 1.
  std::size_t num_picked_[kParts];
  std::size_t counts_[CriteoRow::kTokens];
};

/// Decodes the first `rows` rows if all of them are plain. Otherwise returns the bits of the rows
/// that are not plain, and appends nothing.
std::uint32_t decode_rows(const char* text, const CriteoGroup& group, std::size_t rows,
                          std::uint32_t picked, CriteoTarget& target) {
  GroupPass pass(text, group, rows, picked, target);
  pass.run();
  const std::uint32_t odd = pass.odd_rows();
  if (odd == 0) pass.commit();
  return odd;
}

std::size_t decode_avx512(const char* text, const CriteoGroup& group, std::uint32_t picked,
                          CriteoTarget& target) {
  const std::uint32_t odd = decode_rows(text, group, group.rows, picked, target);
  if (odd == 0) return group.rows;
  const auto plain = static_cast<std::size_t>(__builtin_ctz(odd));
  if (plain != 0) decode_rows(text, group, plain, picked, target);
  return plain;
}

}  // namespace

const CriteoKernel kCriteoAvx512{&find_fields<Avx512Step>, &decode_avx512};

}  // namespace forebay
