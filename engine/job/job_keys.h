#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/result.h"
#include "engine/job/job_document.h"

namespace forebay {

/// Checks that every key of `document` is known, of the right kind and in its range. kInvalid names
/// the first key that is not, where it was written, and what is wanted or the nearest known key.
Status check_keys(const JobDocument& document);

/// Reads the values of a document that `check_keys` has accepted. If a key is missing, its target
/// keeps its value.
class JobKeys {
 public:
  explicit JobKeys(const JobDocument& document) : document_(document) {}

  /// Returns the value of a known key, or null if it is missing.
  const ParamValue* find(std::string_view key) const;

  void text(std::string_view key, std::string& into) const;
  void texts(std::string_view key, std::vector<std::string>& into) const;
  void flag(std::string_view key, bool& into) const;
  void number(std::string_view key, double& into) const;
  void counts(std::string_view key, std::vector<int>& into) const;
  void size(std::string_view key, std::uint64_t& into) const;
  void duration(std::string_view key, std::chrono::nanoseconds& into) const;

  template <class T>
  void count(std::string_view key, T& into) const {
    if (const ParamValue* value = find(key)) into = static_cast<T>(std::get<std::int64_t>(*value));
  }

  template <class T>
  void choice(std::string_view key, T& into,
              std::initializer_list<std::pair<std::string_view, T>> choices) const {
    const ParamValue* value = find(key);
    for (const auto& [name, choice] : choices) {
      if (value != nullptr && std::get<std::string>(*value) == name) into = choice;
    }
  }

 private:
  const JobDocument& document_;
};

}  // namespace forebay
