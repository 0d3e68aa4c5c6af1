#include "engine/run/status_server.h"

#include <utility>

#include "engine/metrics/status_report.h"
#include "engine/trace/history_text.h"

namespace forebay {
namespace {

std::vector<std::string> stage_names(const JobRun& run) {
  std::vector<std::string> names;
  for (const StageInfo& stage : run.plan().stages()) names.push_back(stage.name);
  return names;
}

}  // namespace

StatusServer::StatusServer(Options options) : options_(std::move(options)) {
  options_.tuning.show({.status = [this] { return status_of(options_.figures()).text(); },
                        .trace =
                            [this] {
                              return history_text({.now = options_.run.clock().now(),
                                                   .stages = stage_names(options_.run),
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
