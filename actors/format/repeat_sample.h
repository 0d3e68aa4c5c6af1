#pragma once

#include <cstdint>

namespace forebay {

/// How often the values of a column come in a row.
struct RepeatSample {
  std::uint64_t rows = 0;       ///< Rows compared; 0: none could be read.
  std::uint64_t different = 0;  ///< Those that differ from the row before, and the first one.

  /// Rows over different rows; 0 if unknown.
  double in_a_row() const {
    return rows == 0 ? 0 : static_cast<double>(rows) / static_cast<double>(different);
  }
};

}  // namespace forebay
