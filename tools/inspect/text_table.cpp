#include "tools/inspect/text_table.h"

#include <algorithm>

namespace forebay {
namespace {

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

/// Bytes of the UTF-8 character that `text` starts with; 0 where there is none.
std::size_t character_size(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead < 0x80                   ? 1
                           : lead >= 0xc2 && lead < 0xe0 ? 2
                           : lead >= 0xe0 && lead < 0xf0 ? 3
                           : lead >= 0xf0 && lead < 0xf5 ? 4
                                                         : 0;
  if (size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if (starts_character(text[i])) return 0;
  }
  return size;
}

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
  for (std::size_t characters = 0; !text.empty(); ++characters) {
    if (characters == most) return shown + "…";
    const std::size_t size = character_size(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (size > 1 || (size == 1 && byte >= 0x20 && byte != 0x7f && byte != '\\')) {
      shown += text.substr(0, size);
    } else if (byte == '\t') {
      shown += "\\t";
    } else {
      shown += "\\x";
      shown += kDigits[byte >> 4];
      shown += kDigits[byte & 15];
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return shown;
}

}  // namespace forebay
