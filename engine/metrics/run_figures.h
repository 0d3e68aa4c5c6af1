#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/pipeline.h"
#include "engine/metrics/metric_family.h"
#include "scheduler/cluster_status.h"

namespace forebay {

/// A running job at one moment: what metrics and `forebay status` are made of. A value.
struct RunFigures {
  std::string command;  ///< `train`, `ingest`
  std::chrono::nanoseconds elapsed{0};
  std::uint64_t rows = 0;
  std::uint64_t batches = 0;
  std::uint64_t steps = 0;             ///< Batches the trainer is done with.
  std::chrono::nanoseconds waited{0};  ///< By the trainer, for batches.
  std::chrono::nanoseconds worked{0};
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_limit = 0;
  std::uint64_t decisions = 0;  ///< Of the tuner.
  double tuner_cpu_seconds = 0;
  std::string last_decision;
  PipelineStats pipeline;
  std::optional<scheduler::ClusterStatus> cluster;  ///< Absent when the job has none.
};

/// The families of README.md, in its order.
std::vector<MetricFamily> metrics_of(const RunFigures& figures);

}  // namespace forebay
