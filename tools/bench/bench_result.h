#pragma once

#include <optional>
#include <string>

namespace forebay {

/// One line of `forebay bench`: the measured value, and the limit measured in the same run.
struct BenchResult {
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<double> limit;  ///< The limit's value, in the same unit.
  std::optional<double> ratio;  ///< value / limit, or limit / value if smaller is better.
};

}  // namespace forebay
