#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/metrics/figures.h"
#include "engine/metrics/metrics_server.h"
#include "engine/run/job_run.h"
#include "engine/run/tuning.h"

namespace forebay {

/// Answers queries about a running job: `forebay status`, `top` and `trace` in the job's folder,
/// and Prometheus if `cluster.metrics` is set.
///
/// Serves from its construction to its destruction; everything passed to it outlives it. It calls
/// `figures` and reads the run on its own threads.
class StatusServer {
 public:
  struct Options {
    JobRun& run;
    Tuning& tuning;
    std::string metrics;  ///< HOST:PORT; "": no metrics.
    std::function<RunFigures()> figures;
    /// Called by the constructor with the address, or the reason why there is none.
    std::function<void(const std::string&)> say;
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
