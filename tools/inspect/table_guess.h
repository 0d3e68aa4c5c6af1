#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/format/repeat_sample.h"

namespace forebay {

/// The observed values of one column.
struct ColumnGuess {
  enum class Values : std::uint8_t { kNone, kBinary, kWhole, kNumber, kText };

  std::string name;
  Values values = Values::kNone;
  std::size_t empty = 0;
  std::size_t distinct = 0;   ///< Up to kMostDistinct.
  std::string example = {};   ///< The first value that is not empty.
  RepeatSample repeats = {};  ///< Of sound rows.

  static constexpr std::size_t kMostDistinct = 1000;

  /// Returns how a job would use the column: `label`, `dense`, `sparse`, or a choice of these.
  std::string use() const;
};

/// The format of delimited text, guessed from its first rows.
struct TableGuess {
  char delimiter = ',';
  bool header = true;
  std::vector<ColumnGuess> columns;
  std::size_t rows = 0;  ///< Rows in the text, without the header.
};

/// Whether the text ends where its file does; if not, its last row may be incomplete and is
/// ignored.
enum class WholeText : std::uint8_t { kNo, kYes };

/// Finds the delimiter with which nearly all of the first rows have the same number of fields, at
/// least two; nullopt if there is none. Reads 64 bytes past `text`.
std::optional<TableGuess> guess_table(std::string_view text, WholeText whole);

}  // namespace forebay
