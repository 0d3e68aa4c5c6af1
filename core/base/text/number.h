#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace forebay {

// Numbers in text, whatever the locale: digits with a `-` before them if Number has a sign, of a
// double also a fraction and an exponent. Each function returns nothing for a number that does not
// fit in Number. Any thread.

/// Takes the number at the start of `text`, before which nothing may stand. Leaves `text` as it is
/// when it returns nothing.
template <class Number = std::uint64_t>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Returns the number that `text` is; nothing when anything stands before or behind the number.
template <class Number = std::uint64_t>
std::optional<Number> parse_number(std::string_view text) {
  const auto number = take_number<Number>(text);
  return text.empty() ? number : std::nullopt;
}

/// Returns the number with which `text` begins behind its blanks, whatever follows.
template <class Number = std::uint64_t>
std::optional<Number> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return take_number<Number>(text);
}

/// Returns the number behind the first blank: 18053 of "6215230 18053 12".
template <class Number = std::uint64_t>
std::optional<Number> second_number(std::string_view text) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  return leading_number<Number>(text.substr(blank));
}

}  // namespace forebay
