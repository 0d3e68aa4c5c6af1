#include "engine/run/status_server.h"

#include <utility>

#include "engine/metrics/status_report.h"
#include "engine/trace/history_text.h"

namespace forebay {

StatusServer::StatusServer(Options options) : options_(std::move(options)) {
  options_.tuning.show({.status = [this] { return status_of(options_.figures()).text(); },
                        .trace =
                            [this] {
                              return history_text({.now = options_.run.clock().now(),
                                                   .splits = options_.run.pipeline().history()});
                            }});
  if (options_.metrics.empty()) return;
  auto server = MetricsServer::open("cluster.metrics", options_.metrics,
                                    [this] { return metrics_of(options_.figures()); });
  if (!server) {
    options_.say(server.error().message);
    return;
  }
  metrics_ = std::move(*server);
  options_.say("metrics: " + metrics_->url());
}

StatusServer::~StatusServer() { options_.tuning.show({}); }

}  // namespace forebay
