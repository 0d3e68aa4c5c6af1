#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tuner/log/decision_fields.h"

namespace forebay::tuner {

/// Reads the fields of a value from one JSON object and remembers the first error: a key that is
/// missing, unknown or of another kind.
class FieldReader {
 public:
  using Json = nlohmann::json;

  /// `problem` is shared by all readers of a line; empty: no error so far.
  FieldReader(const Json& object, std::string path, std::string& problem);

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
  void read(const Json& json, const std::string& name, std::vector<T>& values) {
    constexpr std::size_t kMost = 4096;
    if (!json.is_array() || json.size() > kMost) return refuse(name + " is not a short list");
    values.resize(json.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      read(json[i], name + "[" + std::to_string(i) + "]", values[i]);
    }
  }

  template <class T>
  void read(const Json& json, const std::string& name, T& value) {
    FieldReader fields(json, name + ".", problem_);
    list(fields, value);
    fields.finish();
  }

  const Json& object_;
  const std::string path_;
  std::string& problem_;
  std::vector<std::string> names_;
};

}  // namespace forebay::tuner
