#include "actors/input/store/protocol/response_head.h"

#include <algorithm>

#include "core/base/text/number.h"
#include "core/base/text/text.h"

namespace forebay {
namespace {

constexpr std::size_t kMostValueBytes = 1024;

bool same_name(std::string_view a, std::string_view b) {
  const auto low = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, low, low);
}

int status_of(std::string_view line) {
  const auto blank = line.find(' ');
  if (blank == std::string_view::npos) return 0;
  return static_cast<int>(parse_number(line.substr(blank + 1, 3)).value_or(0));
}

}  // namespace

std::optional<ContentRange> parse_content_range(std::string_view value) {
  constexpr std::string_view kUnit = "bytes ";
  if (!value.starts_with(kUnit)) return std::nullopt;
  value.remove_prefix(kUnit.size());
  const auto slash = value.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto total = parse_number(value.substr(slash + 1));
  if (!total) return std::nullopt;
  const std::string_view range = value.substr(0, slash);
  if (range == "*") return ContentRange{.total = *total};
  const auto dash = range.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = parse_number(range.substr(0, dash));
  const auto last = parse_number(range.substr(dash + 1));
  if (!first || !last || *first > *last || *last >= *total) return std::nullopt;
  return ContentRange{.first = *first, .end = *last + 1, .total = *total};
}

void ResponseHead::add_line(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    *this = {};
    status = status_of(line);
    return;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (value.size() > kMostValueBytes) return;
  if (same_name(name, "content-length")) content_length = parse_number(value);
  if (same_name(name, "content-range")) content_range = parse_content_range(value);
  if (same_name(name, "etag")) etag = value;
  if (same_name(name, "last-modified")) last_modified = value;
  if (same_name(name, "date")) date = value;
  if (same_name(name, "x-amz-bucket-region")) region = value;
  if (same_name(name, "location")) location = value;
}

}  // namespace forebay
