#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <emmintrin.h>

#include "actors/format/format.h"

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

/// Reads CSV rows, one after the other, into views of their fields.
///
/// Owns the list of fields and the unescaped text of fields that contain doubled quotes, and reuses
/// both from row to row. Belongs to one thread. Damage in a row is reported through `Damage`; the
/// end of a damaged row is still found, by the rule of CsvScanner.
class CsvRow {
 public:
  /// Keeps the first `most_fields` fields of a row; the others are only counted.
  CsvRow(char delimiter, std::size_t most_fields)
      : delimiter_(delimiter), bytes_(delimiter), kept_(most_fields + 1) {}

  /// Reads the row that starts at `text[0]`; returns its size in bytes, newline included. `text`
  /// ends at the end of the row's block. Reads up to CsvBytes::kStep - 1 bytes past `text`.
  std::size_t read(std::string_view text);

  /// The number of fields of the row read last, and field `i` of those kept, unquoted. The views
  /// are valid until the next row is read and as long as `text` is.
  std::size_t num_fields() const { return num_fields_; }
  std::string_view field(std::size_t i) const { return kept_[i]; }

  /// The syntax error of the row and the field in which it is.
  struct Damage {
    const char* what = nullptr;  ///< nullptr: no error.
    std::size_t field = 0;
  };
  const Damage& damage() const { return damage_; }

  /// Bytes that a blank line at the start of `text` takes: 1, with a carriage return 2; else 0.
  static std::size_t blank_line(std::string_view text);

 private:
  std::size_t read_odd(std::string_view text);
  std::size_t read_field(std::string_view text, std::size_t at);
  std::size_t read_quoted(std::string_view text, std::size_t at);
  void complain(const char* what);

  void add(std::string_view field) {
    const std::size_t last = kept_.size() - 1;
    kept_[num_fields_ < last ? num_fields_ : last] = field;
    ++num_fields_;
  }

  char delimiter_;
  CsvBytes bytes_;
  std::vector<std::string_view> kept_;  // The last entry is scratch for fields that are not kept.
  std::size_t num_fields_ = 0;
  std::string unescaped_;
  Damage damage_;
};

/// Finds the rows of a CSV file: the text between two newlines that are not inside quotes. Skips
/// the byte order mark, blank lines, and the header if there is one.
///
/// A quote opens a quoted field only as the first byte of the field; elsewhere it is an ordinary
/// character. CsvRow uses the same rule, so both always agree on where a row ends.
class CsvScanner final : public RowScanner {
 public:
  struct Options {
    char delimiter = ',';
    bool header = true;
    std::uint64_t max_row_bytes = 0;
  };

  explicit CsvScanner(Options options) : options_(options), header_due_(options.header) {}

  Status scan(std::span<const char> piece, BlockBuilder& blocks) override;
  void finish(BlockBuilder& blocks) override;

 private:
  enum class State : std::uint8_t { kPlain, kQuoted, kQuoteInQuoted };

  void skip_byte_order_mark(std::span<const char> piece);
  Status scan_marks(std::span<const char> piece, std::size_t at, std::uint64_t marks,
                    BlockBuilder& blocks);
  Status end_row(std::uint64_t newline, bool after_return, BlockBuilder& blocks);
  Status too_long() const;

  const Options options_;
  bool header_due_;
  State state_ = State::kPlain;
  char previous_ = '\n';         // The byte before the piece; '\n' at the start of the file.
  unsigned mark_bytes_ = 0;      // Bytes of the byte order mark seen.
  std::uint64_t piece_ = 0;      // Offset of the piece in the file.
  std::uint64_t row_start_ = 0;  // Of the row being scanned.
  std::uint64_t row_line_ = 1;
  std::uint64_t line_ = 1;
};

}  // namespace forebay
