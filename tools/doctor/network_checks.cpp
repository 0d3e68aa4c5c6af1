#include "tools/doctor/network_checks.h"

#include <cstdlib>
#include <string>

#include "core/base/clock.h"
#include "engine/cluster/trainer_node.h"
#include "engine/dashboard/dashboard.h"
#include "engine/dashboard/page_access.h"
#include "engine/metrics/metrics_server.h"

namespace forebay {
namespace {

Finding check_cluster(const JobSpec& job) {
  const auto fits = TrainerNode::check(job);
  if (!fits) return Finding::bad("cluster", fits.error());
  return Finding::ok("cluster", "workers can bring their splits to " + job.cluster.listen);
}

Finding check_dashboard(const std::string& address) {
  const SystemClock clock;
  RunRecorder recorder({.path = "", .command = "doctor", .job = "", .clock = clock});
  const char* token = std::getenv(kTokenVariable);
  const auto opened = Dashboard::open(address, token == nullptr ? "" : token, recorder);
  if (!opened) return Finding::bad("dashboard", opened.error());
  return Finding::ok("dashboard", "the page can be served at " + address);
}

Finding check_metrics(const std::string& address) {
  const auto opened =
      MetricsServer::open("cluster.metrics", address, [] { return std::vector<MetricFamily>(); });
  if (opened) return Finding::ok("metrics", "figures can be served at " + address);
  return Finding::warn("metrics", opened.error().message, "else the run goes on without metrics");
}

}  // namespace

std::vector<Finding> check_network_of(const JobSpec& job) {
  std::vector<Finding> found;
  if (job.cluster.used()) found.push_back(check_cluster(job));
  if (!job.run.dashboard.empty()) found.push_back(check_dashboard(job.run.dashboard));
  if (!job.cluster.metrics.empty()) found.push_back(check_metrics(job.cluster.metrics));
  return found;
}

}  // namespace forebay
