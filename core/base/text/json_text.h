#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace forebay {

/// Parses JSON text from outside. Returns a discarded value (is_discarded()) when the text is not
/// JSON, when an object has a key twice (readers would disagree about its value), or when it is
/// nested deeper than 64 levels: values are copied, compared and written recursively, one stack
/// frame per level.
nlohmann::json parse_json(std::string_view text);

/// Returns the text at `key` of an object; "" if there is none.
std::string text_at(const nlohmann::json& object, const char* key);

/// Formats `value` in one line, or, with `indent`, with one field per line. Replaces bytes that are
/// not UTF-8.
std::string json_text(const nlohmann::json& value, int indent = -1);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace forebay
