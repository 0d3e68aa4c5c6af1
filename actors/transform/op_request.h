#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "actors/pipeline_spec.h"
#include "core/base/result.h"

namespace forebay {

/// The range of a parameter, both ends included.
template <class Number>
struct Range {
  Number low = std::numeric_limits<Number>::lowest();
  Number high = std::numeric_limits<Number>::max();
};

/// One operator of the job's list while it is compiled. Reads its parameters with their types and
/// ranges; for a missing or wrong parameter it returns some value of the right type. Keeps the
/// first error, so that code that reads parameters and columns need not check after each.
class OpRequest {
 public:
  /// `number` counts from 1; `spec` must outlive the request.
  OpRequest(std::size_t number, const TransformSpec& spec) : number_(number), spec_(spec) {}

  const TransformSpec& spec() const { return spec_; }

  /// The operator, as tables name it: "transform 3 (bucketize)".
  std::string label() const;
  /// The operator, as errors name it: "[[transform]] number 3 (bucketize)".
  std::string name() const;

  bool has(const std::string& key) const { return find(key) != nullptr; }

  bool is_integer(const std::string& key) const {
    const ParamValue* value = find(key);
    return value != nullptr && std::holds_alternative<std::int64_t>(*value);
  }

  std::int64_t integer(const std::string& key, Range<std::int64_t> range = {});
  std::int64_t integer_or(const std::string& key, std::int64_t otherwise,
                          Range<std::int64_t> range = {}) {
    return has(key) ? integer(key, range) : otherwise;
  }
  double number(const std::string& key, Range<double> range = {});
  double number_or(const std::string& key, double otherwise, Range<double> range = {}) {
    return has(key) ? number(key, range) : otherwise;
  }
  std::string text(const std::string& key);
  std::string text_or(const std::string& key, const std::string& otherwise) {
    return has(key) ? text(key) : otherwise;
  }
  std::vector<std::int64_t> integers(const std::string& key);
  std::vector<double> numbers(const std::string& key);
  std::vector<std::string> texts_or_none(const std::string& key);

  /// Records the error "[[transform]] number 3 (bucketize): where: what".
  void refuse(const std::string& where, const std::string& what) { refuse(where + ": " + what); }

  /// Records an error whose text names its location itself.
  void refuse(const std::string& what);

  bool refused() const { return !status_; }
  const Status& status() const { return status_; }

 private:
  const ParamValue* find(const std::string& key) const;
  template <class T>
  const T* held(const std::string& key, const std::string& kind);
  template <class T>
  T copy(const std::string& key, const std::string& kind);

  std::size_t number_;
  const TransformSpec& spec_;
  Status status_;
};

/// `; did you mean "x"?` for the candidate nearest to `wrong`; empty if no candidate is near.
std::string did_you_mean(const std::string& wrong, const std::vector<std::string>& candidates);

}  // namespace forebay
