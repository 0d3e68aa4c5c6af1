#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace forebay {

/// What a JSON text from outside holds; is_discarded() when it is no JSON, when an object has a key
/// twice (readers would disagree about its value), or when something in it lies deeper than 64
/// levels: values are copied, compared and written level by level on the stack.
nlohmann::json parse_json(std::string_view text);

/// `value` as text: one line, or, with `indent`, a line a field. Bytes that are not UTF-8 are
/// replaced.
std::string json_text(const nlohmann::json& value, int indent = -1);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace forebay
