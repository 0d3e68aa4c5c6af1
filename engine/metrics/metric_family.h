#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace forebay {

/// One value of a family, identified by its labels.
struct MetricSample {
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

/// All values of one metric name, as in Prometheus.
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
