#include "core/base/json_text.h"

#include <cstddef>

#include <nlohmann/json.hpp>

namespace forebay {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

bool is_shallow(std::string_view text) {
  constexpr int kMost = 64;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (in_string) {
      if (letter == '\\') ++i;
      if (letter == '"') in_string = false;
    } else if (letter == '"') {
      in_string = true;
    } else if (letter == '[' || letter == '{') {
      if (++depth > kMost) return false;
    } else if (letter == ']' || letter == '}') {
      --depth;
    }
  }
  return true;
}

}  // namespace

json parse_json(std::string_view text) {
  if (!is_shallow(text)) return json(json::value_t::discarded);
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string json_text(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

std::string json_text(const ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace forebay
