#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace forebay {

/// One line of `forebay bench`: what was measured, against which limit, in the same run.
struct BenchResult {
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<double> limit;  ///< The limit's own figure, in the same unit.
  std::optional<double> ratio;  ///< value / limit, or its inverse where smaller is better.
};

/// Of at least one value; the upper one of an even number.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace forebay
