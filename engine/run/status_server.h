#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/metrics/metrics_server.h"
#include "engine/metrics/run_figures.h"
#include "engine/run/job_run.h"
#include "engine/run/tuning.h"

namespace forebay {

/// Answers what others ask of a running job: `forebay status`, `top` and `trace` in the job's
/// folder, and Prometheus where `cluster.metrics` names an address.
///
/// From its construction to its destruction; what it is made from outlives it. It asks `figures`
/// and the run on threads of its own.
class StatusServer {
 public:
  struct Options {
    JobRun& run;
    Tuning& tuning;
    std::string metrics;  ///< HOST:PORT; "": none.
    std::function<RunFigures()> figures;
    std::function<void(const std::string&)> say;  ///< In the constructor: the address, or why not.
  };

  explicit StatusServer(Options options);
  ~StatusServer();
  StatusServer(const StatusServer&) = delete;
  StatusServer& operator=(const StatusServer&) = delete;

 private:
  const Options options_;
  std::unique_ptr<MetricsServer> metrics_;
};

}  // namespace forebay
