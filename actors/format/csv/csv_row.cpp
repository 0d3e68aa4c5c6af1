#include "actors/format/csv/csv_row.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace forebay {
namespace {

/// The field without the carriage return before its row's newline.
std::string_view without_return(const char* first, const char* newline) {
  if (newline > first && newline[-1] == '\r') --newline;
  return {first, static_cast<std::size_t>(newline - first)};
}

}  // namespace

std::size_t CsvRow::blank_line(std::string_view text) {
  if (text.starts_with('\n')) return 1;
  return text.starts_with("\r\n") ? 2 : 0;
}

std::size_t CsvRow::read(std::string_view text) {
  num_fields_ = 0;
  damage_ = {};
  const char* field = text.data();
  for (std::size_t at = 0; at < text.size(); at += CsvBytes::kStep) {
    std::uint64_t marks = bytes_.field_marks(text.data() + at);
    const std::size_t left = text.size() - at;
    if (left < CsvBytes::kStep) marks &= (std::uint64_t{1} << left) - 1;
    for (; marks != 0; marks &= marks - 1) {
      const char* mark = text.data() + at + std::countr_zero(marks);
      if (*mark == delimiter_) {
        add({field, static_cast<std::size_t>(mark - field)});
        field = mark + 1;
      } else if (*mark == '\n') {
        add(without_return(field, mark));
        return static_cast<std::size_t>(mark + 1 - text.data());
      } else {
        return read_odd(text);
      }
    }
  }
  return read_odd(text);
}

/// Reads a row that contains quotes or NULs, or has no newline.
std::size_t CsvRow::read_odd(std::string_view text) {
  num_fields_ = 0;
  unescaped_.clear();
  unescaped_.reserve(text.size());  // So that views of it stay valid while it grows.
  std::size_t at = read_field(text, 0);
  while (at < text.size() && text[at] == delimiter_) at = read_field(text, at + 1);
  return std::min(at + 1, text.size());
}

/// Reads the field that starts at `at`; returns the index of its delimiter or newline.
std::size_t CsvRow::read_field(std::string_view text, std::size_t at) {
  const bool quoted = at < text.size() && text[at] == '"';
  const std::size_t rest = quoted ? read_quoted(text, at) : at;
  std::size_t end = rest;
  while (end < text.size() && text[end] != delimiter_ && text[end] != '\n') ++end;
  std::string_view plain = text.substr(rest, end - rest);
  if (end < text.size() && text[end] == '\n') {
    plain = without_return(text.data() + rest, text.data() + end);
  }
  if (!quoted) {
    add(plain);
  } else if (!plain.empty()) {
    complain("has text after its closing quote");
  }
  if (std::memchr(text.data() + at, 0, end - at) != nullptr) complain("has a NUL byte");
  return end;
}

/// Reads from the opening quote; returns the index of the byte after the closing quote.
std::size_t CsvRow::read_quoted(std::string_view text, std::size_t at) {
  const std::size_t kept = unescaped_.size();
  std::size_t begin = at + 1;
  while (true) {
    const std::size_t quote = text.find('"', begin);
    if (quote == std::string_view::npos) {
      add({});
      complain("has a quote that is never closed");
      return text.size();
    }
    const bool pair = quote + 1 < text.size() && text[quote + 1] == '"';
    if (!pair && unescaped_.size() == kept) {
      add(text.substr(begin, quote - begin));
      return quote + 1;
    }
    unescaped_.append(text, begin, quote + (pair ? 1 : 0) - begin);
    begin = quote + (pair ? 2 : 1);
    if (!pair) break;
  }
  add(std::string_view(unescaped_).substr(kept));
  return begin;
}

void CsvRow::complain(const char* what) {
  if (damage_.what == nullptr) damage_ = {what, num_fields_ - 1};
}

}  // namespace forebay
