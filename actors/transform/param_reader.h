#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "actors/transform/op_request.h"

namespace forebay {

/// The range of a parameter, both ends included.
template <class Number>
struct Range {
  Number low = std::numeric_limits<Number>::lowest();
  Number high = std::numeric_limits<Number>::max();
};

/// Reads an operator's parameters with their types and ranges. A missing or wrong parameter is
/// recorded as an error on the OpRequest; the returned value is then some value of the right type.
class ParamReader {
 public:
  explicit ParamReader(OpRequest& request) : request_(request) {}

  /// The operator, as messages name it: "transform 3 (bucketize)".
  std::string op() const { return request_.name(); }

  bool has(const std::string& key) const { return find(key) != nullptr; }

  std::int64_t integer(const std::string& key, Range<std::int64_t> range = {});
  std::int64_t integer_or(const std::string& key, std::int64_t otherwise,
                          Range<std::int64_t> range = {});
  double number(const std::string& key, Range<double> range = {});
  double number_or(const std::string& key, double otherwise, Range<double> range = {});
  std::string text(const std::string& key);
  std::string text_or(const std::string& key, const std::string& otherwise);
  std::vector<std::int64_t> integers(const std::string& key);
  std::vector<double> numbers(const std::string& key);
  std::vector<std::string> texts_or_none(const std::string& key);

  void refuse(const std::string& key, const std::string& what) { request_.refuse(key, what); }
  void refuse(const std::string& what) { request_.refuse(what); }
  bool refused() const { return request_.refused(); }

 private:
  const ParamValue* find(const std::string& key) const;
  const ParamValue* need(const std::string& key, const std::string& kind);

  OpRequest& request_;
};

}  // namespace forebay
