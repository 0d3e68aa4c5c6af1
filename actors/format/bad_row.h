#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace forebay {

/// A row that could not be read, as the quarantine file names it.
struct BadRow {
  std::uint32_t file = 0;
  /// Text: of its first byte in the decompressed file. Other formats: its number in the file.
  std::uint64_t offset = 0;
  std::uint64_t line = 0;  ///< From 1. If there is a `group`: the row's number in it, from 0.
  std::string reason;      ///< E.g. `column I3: "x" is not an integer`.
  std::string text;        ///< At most kMaxText bytes of the row, unchanged.
  std::optional<std::uint64_t> group = std::nullopt;  ///< Number of its row group; none in text.

  static constexpr std::size_t kMaxText = 256;
};

/// Returns the `line` of the quarantine file: "7", or "row group 2, row 14".
std::string line_of(const BadRow& row);

/// Returns where a row is, for a message: "line 7 (byte 810)", or "row group 2, row 14".
std::string place_of(const BadRow& row);

}  // namespace forebay
