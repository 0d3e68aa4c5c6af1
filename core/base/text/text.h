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

/// Returns `text` without blanks and line ends around it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
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
