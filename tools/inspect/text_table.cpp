#include "tools/inspect/text_table.h"

#include <algorithm>

namespace forebay {
namespace {

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

}  // namespace

std::vector<std::string> align_columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string& line = lines.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] + 2 - width_of(row[i]), ' ');
    }
  }
  return lines;
}

std::string printable(std::string_view text, std::size_t most) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string shown;
  std::size_t characters = 0;
  for (const char c : text) {
    if (starts_character(c) && ++characters > most) return shown + "…";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f && c != '\\') {
      shown += c;
    } else if (c == '\t') {
      shown += "\\t";
    } else {
      shown += "\\x";
      shown += kDigits[byte >> 4];
      shown += kDigits[byte & 15];
    }
  }
  return shown;
}

}  // namespace forebay
