#pragma once

#include <optional>
#include <string>

namespace forebay {

/// One line of `forebay bench`: what was measured, against which limit, in the same run.
struct BenchResult {
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<double> limit;  ///< The limit's own figure, in the same unit.
  std::optional<double> ratio;  ///< value / limit, or its inverse where smaller is better.
};

}  // namespace forebay
