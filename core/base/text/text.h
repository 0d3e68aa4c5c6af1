#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forebay {

/// Takes the part before the next `end`, or all of it, and that `end` itself from `text`.
inline std::string_view take_until(std::string_view& text, char end) {
  const std::string_view part = text.substr(0, text.find(end));
  text.remove_prefix(part.size() < text.size() ? part.size() + 1 : part.size());
  return part;
}

/// Returns `text` without the characters around it for which `is_blank` is true.
template <class IsBlank>
std::string_view trimmed(std::string_view text, IsBlank is_blank) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Returns `text` without blanks and line ends around it.
inline std::string_view trimmed(std::string_view text) {
  return trimmed(text, [](char letter) {
    return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
  });
}

/// Returns the words with `between` between two of them.
inline std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

/// Returns `text` with each `from` replaced by `to`.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace forebay
