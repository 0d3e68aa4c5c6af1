#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace forebay {

/// One row of a Criteo file: a label, 13 integers, 26 hexadecimal tokens.
///
/// This class defines the layout. The vector kernels decode only plain rows and must agree with it;
/// every other row, damaged rows included, is decoded here, and all rows of a job with a label's
/// threshold, a weight or extra columns.
struct CriteoRow {
  static constexpr std::size_t kInts = 13;
  static constexpr std::size_t kTokens = 26;
  static constexpr std::size_t kFields = 1 + kInts + kTokens;

  float label = 0;
  std::array<float, kInts> ints{};             ///< missing_value() where the field is empty.
  std::array<std::int64_t, kInts> integers{};  ///< The same exactly; 0 where the field is empty.
  std::array<std::int64_t, kTokens> tokens{};  ///< 0 where the field is empty.
  std::uint32_t present = 0;                   ///< Bit i: token i is not empty.

  /// Reads `row`, which has no newline (a carriage return at its end is dropped). Returns why the
  /// row is damaged, naming the column; empty for a sound row. `label_threshold` as in ColumnSpec.
  std::string parse(std::string_view row, const std::optional<double>& label_threshold = {});
};

/// The name of field `i` of a row: label, I1 … I13, C1 … C26.
std::string criteo_column_name(std::size_t i);

}  // namespace forebay
