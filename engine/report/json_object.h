#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forebay {

/// Writes one JSON object with its keys in the order of insertion. A number that is not finite
/// becomes null; bytes that are not UTF-8 are replaced.
class JsonObject {
 public:
  JsonObject& add(std::string_view key, std::string_view text);
  JsonObject& add(std::string_view key, const char* text) {
    return add(key, std::string_view(text));
  }
  JsonObject& add(std::string_view key, double number);
  JsonObject& add(std::string_view key, std::same_as<bool> auto flag) {
    return add_raw(key, flag ? "true" : "false");
  }
  JsonObject& add(std::string_view key,
                  std::integral auto number) requires(!std::same_as<decltype(number), bool>) {
    return add_raw(key, std::to_string(number));
  }
  template <class Number>
  JsonObject& add(std::string_view key, const std::optional<Number>& number) {
    return number ? add(key, *number) : add_raw(key, "null");
  }
  JsonObject& add(std::string_view key, const JsonObject& object) {
    return add_raw(key, object.text());
  }
  JsonObject& add(std::string_view key, const std::vector<JsonObject>& list);
  /// Adds the list of what `to_json` makes of each item.
  template <class List, class ToJson>
  JsonObject& add(std::string_view key, const List& list, const ToJson& to_json) {
    std::vector<JsonObject> objects;
    objects.reserve(list.size());
    for (const auto& item : list) objects.push_back(to_json(item));
    return add(key, objects);
  }
  /// Adds the fields of another object, in their order.
  JsonObject& add_all(const JsonObject& other) {
    fields_.insert(fields_.end(), other.fields_.begin(), other.fields_.end());
    return *this;
  }
  JsonObject& add(std::string_view key, const std::vector<std::string>& texts);
  JsonObject& add(std::string_view key, const std::vector<std::vector<std::string>>& lists);
  JsonObject& add(std::string_view key, const std::vector<std::size_t>& numbers);
  JsonObject& add(std::string_view key, const std::vector<double>& numbers);

  /// Returns the object in one line: `{"rows":3}`.
  std::string text() const;

 private:
  JsonObject& add_raw(std::string_view key, std::string value);

  std::vector<std::pair<std::string, std::string>> fields_;  // both in JSON
};

}  // namespace forebay
