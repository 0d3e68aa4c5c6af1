#include "tools/launch/fill.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "core/base/check.h"

namespace forebay {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./:,=+%@").find(c) != std::string_view::npos;
}

}  // namespace

std::string fill(std::string_view text, const Blanks& blanks) {
  std::string filled;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('@'), text.size());
    filled.append(text.substr(0, open));
    text.remove_prefix(open);
    const std::size_t close = text.find('@', 1);
    if (close != std::string_view::npos && is_name(text.substr(1, close - 1))) {
      const auto blank = blanks.find(text.substr(1, close - 1));
      FOREBAY_CHECK(blank != blanks.end());
      filled.append(blank->second);
      text.remove_prefix(close + 1);
    } else if (!text.empty()) {
      filled.push_back(text.front());
      text.remove_prefix(1);
    }
  }
  return filled;
}

std::string shell_word(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string quoted = "'";
  for (char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string yaml_text(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 32 || c == 127) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned>(c));
      quoted += escaped;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string indented(std::string_view text, std::size_t spaces) {
  std::string block;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) block.append(spaces, ' ').append(text.substr(0, end));
    block += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
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
