#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay {

/// What the values of one column look like.
struct ColumnGuess {
  enum class Values : std::uint8_t { kNone, kBinary, kWhole, kNumber, kText };

  std::string name;
  Values values = Values::kNone;
  std::size_t empty = 0;
  std::size_t distinct = 0;  ///< Up to kMostDistinct.
  std::string example = {};  ///< The first that is not empty.

  static constexpr std::size_t kMostDistinct = 1000;

  /// What a job would take it for: `label`, `dense`, `sparse`, or a choice of these.
  std::string use() const;
};

/// Delimited text, as its first rows show it.
struct TableGuess {
  char delimiter = ',';
  bool header = true;
  std::vector<ColumnGuess> columns;
  std::size_t rows = 0;  ///< In the text, the header not counted.
};

/// Whether a text ends where its file does; else its last row may be cut off and is left out.
enum class WholeText : std::uint8_t { kNo, kYes };

/// Finds the delimiter with which nearly all of the first rows have the same number of fields, at
/// least two; nothing where there is none. 64 bytes past `text` are read.
std::optional<TableGuess> guess_table(std::string_view text, WholeText whole);

}  // namespace forebay
