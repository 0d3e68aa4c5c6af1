#include "tools/command/node_metrics.h"

#include <utility>

namespace forebay {

Result<std::unique_ptr<MetricsServer>> node_metrics(
    const std::string& address, const std::function<void(const std::string&)>& say,
    MetricsServer::Collect collect) {
  if (address.empty()) return std::unique_ptr<MetricsServer>();
  auto server = MetricsServer::open("--metrics", address, std::move(collect));
  if (!server) return pass(server);
  say("metrics: " + (*server)->url());
  return server;
}

}  // namespace forebay
