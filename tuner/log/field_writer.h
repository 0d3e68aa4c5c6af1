#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "tuner/log/decision_fields.h"

namespace forebay::tuner {

/// Writes the fields of a value into one JSON object, in their order. A number that is not finite
/// (a policy may propose one) becomes null.
class FieldWriter {
 public:
  template <class T>
  void operator()(const char* name, T& value) {
    object_[name] = written(value);
  }

  nlohmann::ordered_json take() { return std::move(object_); }

  template <class T>
  static nlohmann::ordered_json written(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      return value;
    } else {
      FieldWriter writer;
      list(writer, value);
      return writer.take();
    }
  }

  template <class T>
  static nlohmann::ordered_json written(std::vector<T>& values) {
    auto array = nlohmann::ordered_json::array();
    for (T& value : values) array.push_back(written(value));
    return array;
  }

 private:
  nlohmann::ordered_json object_ = nlohmann::ordered_json::object();
};

}  // namespace forebay::tuner
