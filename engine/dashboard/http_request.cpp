#include "engine/dashboard/http_request.h"

namespace forebay {
namespace {

/// Returns the value of `name` in `name=value` fields that `between` separates.
std::optional<std::string> field(std::string_view text, std::string_view name, char between) {
  while (!text.empty()) {
    const std::size_t end = text.find(between);
    std::string_view one = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    while (one.starts_with(' ')) one.remove_prefix(1);
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || one.substr(0, equals) != name) continue;
    return std::string(one.substr(equals + 1));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> parameter(std::string_view query, std::string_view name) {
  return field(query, name, '&');
}

std::optional<std::string> cookie_value(std::string_view cookies, std::string_view name) {
  return field(cookies, name, ';');
}

}  // namespace forebay
