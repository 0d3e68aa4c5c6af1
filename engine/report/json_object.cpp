#include "engine/report/json_object.h"

#include <nlohmann/json.hpp>

#include "core/base/text/json_text.h"

namespace forebay {
namespace {

std::string quoted(std::string_view text) { return json_text(nlohmann::json(std::string(text))); }

std::string list_of(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string_view text : texts) list += (list.empty() ? "" : ",") + quoted(text);
  return "[" + list + "]";
}

}  // namespace

JsonObject& JsonObject::add(std::string_view key, std::string_view text) {
  return add_raw(key, quoted(text));
}

JsonObject& JsonObject::add(std::string_view key, double number) {
  return add_raw(key, json_text(nlohmann::json(number)));
}

JsonObject& JsonObject::add(std::string_view key, const std::vector<JsonObject>& list) {
  std::string text;
  for (const JsonObject& object : list) text += (text.empty() ? "" : ",") + object.text();
  return add_raw(key, "[" + text + "]");
}

JsonObject& JsonObject::add(std::string_view key, const std::vector<std::string>& texts) {
  return add_raw(key, list_of(texts));
}

JsonObject& JsonObject::add(std::string_view key,
                            const std::vector<std::vector<std::string>>& lists) {
  std::string all;
  for (const auto& list : lists) all += (all.empty() ? "" : ",") + list_of(list);
  return add_raw(key, "[" + all + "]");
}

JsonObject& JsonObject::add(std::string_view key, const std::vector<std::size_t>& numbers) {
  std::string list;
  for (const std::size_t number : numbers) {
    list += (list.empty() ? "" : ",") + std::to_string(number);
  }
  return add_raw(key, "[" + list + "]");
}

JsonObject& JsonObject::add(std::string_view key, const std::vector<double>& numbers) {
  return add_raw(key, json_text(nlohmann::json(numbers)));
}

JsonObject& JsonObject::add_raw(std::string_view key, std::string value) {
  fields_.emplace_back(quoted(key), std::move(value));
  return *this;
}

std::string JsonObject::text() const {
  std::string text;
  for (const auto& [key, value] : fields_) {
    if (!text.empty()) text += ',';
    text.append(key).append(":").append(value);
  }
  return "{" + text + "}";
}

}  // namespace forebay
