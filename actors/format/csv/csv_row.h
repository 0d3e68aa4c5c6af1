#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "actors/format/csv/csv_bytes.h"

namespace forebay {

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

}  // namespace forebay
