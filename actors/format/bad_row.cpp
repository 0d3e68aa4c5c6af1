#include "actors/format/bad_row.h"

namespace forebay {

std::string line_of(const BadRow& row) {
  const std::string line = std::to_string(row.line);
  return row.group ? "row group " + std::to_string(*row.group) + ", row " + line : line;
}

std::string place_of(const BadRow& row) {
  if (row.group) return line_of(row);
  return "line " + line_of(row) + " (byte " + std::to_string(row.offset) + ")";
}

}  // namespace forebay
