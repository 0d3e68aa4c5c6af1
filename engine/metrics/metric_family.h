#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace forebay {

/// One number of a family, told apart by its labels.
struct MetricSample {
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

/// Numbers of one name, as Prometheus knows them.
struct MetricFamily {
  enum class Kind : std::uint8_t {
    kCounter,  ///< Only grows; its name ends in `_total`.
    kGauge,
  };

  std::string name;
  std::string help;
  Kind kind = Kind::kGauge;
  std::vector<MetricSample> samples;
};

}  // namespace forebay
