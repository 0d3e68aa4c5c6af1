#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// One value of a family, identified by its labels.
struct MetricSample {
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

/// All values of one metric name, as in Prometheus. A name that ends in `_total` is that of a
/// counter, which only grows; others are gauges.
struct MetricFamily {
  std::string name;
  std::string help;
  std::vector<MetricSample> samples;
};

/// Serves a run's metrics to Prometheus: GET /metrics at `HOST:PORT`, port 0 for any free port.
///
/// Owns its threads and the socket. Serves two requests at a time, and gives up one whose client
/// sends or takes no byte for two seconds. `collect` is called on one of these threads, once a
/// scrape. There is no password: every process that can reach the port can read the figures.
class MetricsServer {
 public:
  using Collect = std::function<std::vector<MetricFamily>()>;

  /// kInvalid names the address and its `key` if the server cannot listen there.
  static Result<std::unique_ptr<MetricsServer>> open(const std::string& key,
                                                     const std::string& address, Collect collect);
  virtual ~MetricsServer() = default;
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// The port in use.
  virtual std::uint16_t port() const = 0;
  /// Returns the URL of the metrics.
  std::string url() const;

 protected:
  explicit MetricsServer(std::string address) : address_(std::move(address)) {}

 private:
  const std::string address_;
};

/// Returns the families in Prometheus' text format.
std::string exposition_of(const std::vector<MetricFamily>& families);

}  // namespace forebay
