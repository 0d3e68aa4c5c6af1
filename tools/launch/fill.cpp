#include "tools/launch/fill.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/check.h"
#include "core/base/text/hex.h"
#include "core/base/text/text.h"

namespace forebay {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
}

const std::string& value_of(std::string_view name, const Blanks& blanks) {
  const auto blank = blanks.find(name);
  FOREBAY_CHECK(blank != blanks.end());
  return blank->second;
}

// Removes and returns the first line of `text`, with its line break.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
  text.remove_prefix(line.size());
  return line;
}

void append_filled(std::string_view line, const Blanks& blanks, std::string& filled) {
  while (!line.empty()) {
    const std::size_t open = std::min(line.find('@'), line.size());
    filled.append(line.substr(0, open));
    line.remove_prefix(open);
    const std::size_t close = line.find('@', 1);
    if (close != std::string_view::npos && is_name(line.substr(1, close - 1))) {
      filled.append(value_of(line.substr(1, close - 1), blanks));
      line.remove_prefix(close + 1);
    } else if (!line.empty()) {
      filled.push_back(line.front());
      line.remove_prefix(1);
    }
  }
}

// The conditions around a line of a template, outermost first.
class Conditions {
 public:
  bool hold() const {
    return std::ranges::all_of(holds_, [](bool holds) { return holds; });
  }
  bool closed() const { return holds_.empty(); }

  // Returns true if `line` begins, turns or ends a condition.
  bool take(std::string_view line, const Blanks& blanks) {
    constexpr std::string_view kIf = "#@if ";
    if (line.starts_with(kIf)) {
      line.remove_prefix(kIf.size());
      holds_.push_back(!value_of(line.substr(0, line.find('\n')), blanks).empty());
    } else if (line == "#@else\n") {
      FOREBAY_CHECK(!closed());
      holds_.back() = !holds_.back();
    } else if (line == "#@end\n") {
      FOREBAY_CHECK(!closed());
      holds_.pop_back();
    } else {
      return false;
    }
    return true;
  }

 private:
  std::vector<bool> holds_;
};

}  // namespace

std::string fill(std::string_view text, const Blanks& blanks) {
  std::string filled;
  Conditions conditions;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (conditions.take(line, blanks) || !conditions.hold()) continue;
    append_filled(line, blanks, filled);
  }
  FOREBAY_CHECK(conditions.closed());
  return filled;
}

std::string yaml_text(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 32 || c == 127) {
      quoted += "\\x";
      append_hex(quoted, static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string indented(std::string_view text, std::size_t spaces) {
  std::string block;
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    if (!line.empty()) block.append(spaces, ' ').append(line);
    block += '\n';
  }
  return block;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t here = std::min<std::size_t>(bytes.size() - at, 3);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < here ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= here ? kLetters[group >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

}  // namespace forebay
