#include "core/base/text/json_fields.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace forebay {

JsonFieldReader::JsonFieldReader(const Json& object, std::string path, std::string& problem)
    : object_(object), path_(std::move(path)), problem_(problem) {
  if (!object_.is_object()) refuse((path_.empty() ? "the record" : path_) + " is not an object");
}

void JsonFieldReader::refuse(const std::string& what) {
  if (problem_.empty()) problem_ = what;
}

const JsonFieldReader::Json* JsonFieldReader::find(const char* name) {
  if (!problem_.empty()) return nullptr;
  names_.emplace_back(name);
  const auto found = object_.find(name);
  if (found == object_.end()) {
    refuse(path_ + name + " is missing");
    return nullptr;
  }
  return &*found;
}

void JsonFieldReader::finish() {
  if (!problem_.empty()) return;
  for (const auto& [name, value] : object_.items()) {
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) continue;
    refuse(path_ + name.substr(0, 40) + " is unknown");
    return;
  }
}

void JsonFieldReader::read(const Json& json, const std::string& name, std::string& value) {
  if (!json.is_string()) return refuse(name + " is not a string");
  value = json.get<std::string>();
}

void JsonFieldReader::read(const Json& json, const std::string& name, double& value) {
  if (json.is_null()) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (json.is_number() && std::isfinite(json.get<double>())) {
    value = json.get<double>();
  } else {
    refuse(name + " is not a number");
  }
}

void JsonFieldReader::read(const Json& json, const std::string& name, std::uint64_t& value) {
  if (!json.is_number_unsigned()) return refuse(name + " is not a whole number");
  value = json.get<std::uint64_t>();
}

void JsonFieldReader::read(const Json& json, const std::string& name, std::uint32_t& value) {
  std::uint64_t wide = 0;
  read(json, name, wide);
  if (wide > std::numeric_limits<std::uint32_t>::max()) return refuse(name + " is too large");
  value = static_cast<std::uint32_t>(wide);
}

}  // namespace forebay
