#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tests/actors/transform/columns_fixture.h"

#include "tests/support/catch.h"

namespace forebay::test {

using Params = std::map<std::string, ParamValue>;
using Floats = std::vector<float>;
using Numbers = std::vector<double>;
using Integers = std::vector<std::int64_t>;

inline constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
inline constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();

inline ParamValue whole(std::int64_t value) { return value; }

/// One dense column `x` through one operator.
inline Columns dense_through(const std::string& op, const Params& params, const Floats& values) {
  Columns columns(values.size());
  columns.dense("x", values);
  const auto status = columns.apply({{op, {"x"}, params}});
  INFO((status ? "" : status.error().message));
  REQUIRE(status);
  return columns;
}

/// One sparse column `c` through one operator.
inline Columns sparse_through(const std::string& op, const Params& params, const Lists& lists) {
  Columns columns(lists.size());
  columns.sparse("c", lists);
  const auto status = columns.apply({{op, {"c"}, params}});
  INFO((status ? "" : status.error().message));
  REQUIRE(status);
  return columns;
}

/// Two sparse columns `a` and `b` through one operator.
inline Columns pair_through(const std::string& op, const Params& params, const Lists& a,
                            const Lists& b) {
  Columns columns(a.size());
  columns.sparse("a", a).sparse("b", b);
  const auto status = columns.apply({{op, {"a", "b"}, params}});
  INFO((status ? "" : status.error().message));
  REQUIRE(status);
  return columns;
}

inline std::string refusal(const std::string& op, const std::vector<std::string>& names,
                           const Params& params) {
  const Schema schema{{"x", "y"}, {{"a", 0}, {"b", 0}, {"c", 0}}};
  const auto plan = TransformPlan::compile({{op, names, params}}, schema);
  REQUIRE_FALSE(plan);
  const std::string prefix = "[[transform]] number 1 (" + op + "): ";
  REQUIRE(plan.error().message.substr(0, prefix.size()) == prefix);
  return plan.error().message.substr(prefix.size());
}

}  // namespace forebay::test
