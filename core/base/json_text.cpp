#include "core/base/json_text.h"

#include <cstddef>
#include <set>
#include <vector>

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
  std::vector<std::set<std::string>> open;  // the keys of each object that is being read
  bool unique = true;
  const auto watch_keys = [&](int, json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second) {
      unique = false;
    }
    return true;
  };
  json parsed = json::parse(text, watch_keys, /*allow_exceptions=*/false);
  return unique ? parsed : json(json::value_t::discarded);
}

std::string json_text(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

std::string json_text(const ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace forebay
