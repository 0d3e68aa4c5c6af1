#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace forebay {

// A record's keys are listed once, for both directions: beside the record, `list(fields, record)`
// calls `fields("key", record.member)` for each key in its order.

/// Reads the fields of a value from one JSON object and remembers the first error: a key that is
/// missing, unknown or of another kind.
class JsonFieldReader {
 public:
  using Json = nlohmann::json;

  /// `problem` is shared by all readers of a line; empty: no error so far.
  JsonFieldReader(const Json& object, std::string path, std::string& problem);

  template <class T>
  void operator()(const char* name, T& value) {
    if (const Json* found = find(name)) read(*found, path_ + name, value);
  }

  /// Call it after all fields: a key that was not read is an error.
  void finish();

 private:
  const Json* find(const char* name);
  void refuse(const std::string& what);

  void read(const Json& json, const std::string& name, std::string& value);
  void read(const Json& json, const std::string& name, double& value);
  void read(const Json& json, const std::string& name, std::uint64_t& value);
  void read(const Json& json, const std::string& name, std::uint32_t& value);

  template <class T>
  void read(const Json& json, const std::string& name, std::optional<T>& value) {
    value.reset();
    if (!json.is_null()) read(json, name, value.emplace());
  }

  template <class T>
  void read(const Json& json, const std::string& name, std::vector<T>& values) {
    constexpr std::size_t kMost = std::size_t{1} << 20;
    if (!json.is_array() || json.size() > kMost) return refuse(name + " is not a list");
    values.resize(json.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      read(json[i], name + "[" + std::to_string(i) + "]", values[i]);
    }
  }

  template <class T>
  void read(const Json& json, const std::string& name, T& value) {
    JsonFieldReader fields(json, name + ".", problem_);
    list(fields, value);
    fields.finish();
  }

  const Json& object_;
  const std::string path_;
  std::string& problem_;
  std::vector<std::string> names_;
};

/// Writes the fields of a value into one JSON object, in their order. A number that is not finite
/// (a policy may propose one) becomes null.
class JsonFieldWriter {
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
      JsonFieldWriter writer;
      list(writer, value);
      return writer.take();
    }
  }

  template <class T>
  static nlohmann::ordered_json written(std::optional<T>& value) {
    return value ? written(*value) : nlohmann::ordered_json();
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

}  // namespace forebay
