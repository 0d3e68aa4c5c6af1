#include "core/base/text/json_text.h"

#include <cstddef>
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

namespace forebay {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kMostLevels = 64;

}  // namespace

json parse_json(std::string_view text) {
  std::vector<std::set<std::string>> open;  // the keys of each object that is being read
  bool sound = true;
  const auto watch = [&](int depth, json::parse_event_t event, const json& value) {
    using Event = json::parse_event_t;
    if (event == Event::object_start) open.emplace_back();
    if (event == Event::object_end) open.pop_back();
    const bool deep =
        (event == Event::object_start || event == Event::array_start) && depth >= kMostLevels;
    const bool twice = event == Event::key && !open.back().insert(value.get<std::string>()).second;
    sound = sound && !deep && !twice;
    return sound;  // No more values are kept.
  };
  json parsed = json::parse(text, watch, /*allow_exceptions=*/false);
  return sound ? parsed : json(json::value_t::discarded);
}

std::string json_text(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

std::string json_text(const ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace forebay
