#include "engine/metrics/metrics_server.h"

#include <exception>

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/text_serializer.h>

#include "core/base/open_files.h"
#include "core/net/host_port.h"

namespace forebay {
namespace {

prometheus::MetricFamily converted(const MetricFamily& family) {
  const bool counts = family.name.ends_with("_total");
  prometheus::MetricFamily result;
  result.name = family.name;
  result.help = family.help;
  result.type = counts ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
  result.metric.reserve(family.samples.size());
  for (const MetricSample& sample : family.samples) {
    prometheus::ClientMetric metric;
    (counts ? metric.counter.value : metric.gauge.value) = sample.value;
    metric.label.reserve(sample.labels.size());
    for (const auto& [name, value] : sample.labels) metric.label.push_back({name, value});
    result.metric.push_back(std::move(metric));
  }
  return result;
}

std::vector<prometheus::MetricFamily> converted(const std::vector<MetricFamily>& families) {
  std::vector<prometheus::MetricFamily> result;
  result.reserve(families.size());
  for (const MetricFamily& family : families) result.push_back(converted(family));
  return result;
}

// A client that sends or takes nothing for so long makes way for the next one; civetweb's default
// is half a minute.
constexpr const char* kPatienceMs = "2000";

class Collector final : public prometheus::Collectable {
 public:
  explicit Collector(MetricsServer::Collect collect) : collect_(std::move(collect)) {}
  std::vector<prometheus::MetricFamily> Collect() const override { return converted(collect_()); }

 private:
  const MetricsServer::Collect collect_;
};

class ExposerServer final : public MetricsServer {
 public:
  ExposerServer(const std::string& address, Collect collect)
      : MetricsServer(address),
        collector_(std::make_shared<Collector>(std::move(collect))),
        exposer_(
            {"listening_ports", address, "num_threads", "2", "request_timeout_ms", kPatienceMs}) {
    exposer_.RegisterCollectable(collector_);
  }

  std::uint16_t port() const override {
    const auto ports = exposer_.GetListeningPorts();
    return ports.empty() ? std::uint16_t{0} : static_cast<std::uint16_t>(ports.front());
  }

 private:
  std::shared_ptr<Collector> collector_;
  prometheus::Exposer exposer_;
};

/// civetweb does not say why it cannot listen, so the port is tried once more.
std::string why_not(const std::string& address) {
  const auto parts = parse_address(address);
  const int error = parts ? try_port(parts->port) : 0;
  return error == 0 ? "" : " (" + system_words(error) + ")";
}

}  // namespace

// civetweb throws if it cannot listen; the exception is caught here.
Result<std::unique_ptr<MetricsServer>> MetricsServer::open(const std::string& key,
                                                           const std::string& address,
                                                           Collect collect) {
  try {
    return std::unique_ptr<MetricsServer>(
        std::make_unique<ExposerServer>(address, std::move(collect)));
  } catch (const std::exception&) {
    return fail(Code::kInvalid, key + " " + address + ": nothing can listen there" +
                                    why_not(address) +
                                    "; name a free HOST:PORT of this machine, port 0 for any");
  }
}

std::string MetricsServer::url() const {
  return "http://" + address_.substr(0, address_.rfind(':')) + ":" + std::to_string(port()) +
         "/metrics";
}

std::string exposition_of(const std::vector<MetricFamily>& families) {
  return prometheus::TextSerializer().Serialize(converted(families));
}

}  // namespace forebay
