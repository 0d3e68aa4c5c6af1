#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/pipeline.h"
#include "engine/metrics/metrics_server.h"
#include "scheduler/cluster_status.h"

namespace forebay {

/// A running job at one moment: the source of metrics and `forebay status`. A value.
struct RunFigures {
  std::string command;  ///< `train`, `ingest`
  std::chrono::nanoseconds elapsed{0};
  std::uint64_t rows = 0;
  std::uint64_t batches = 0;
  std::uint64_t steps = 0;             ///< Batches that the trainer has finished.
  std::chrono::nanoseconds waited{0};  ///< By the trainer for batches.
  std::chrono::nanoseconds worked{0};
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_limit = 0;
  std::uint64_t decisions = 0;  ///< Decisions of the tuner.
  double tuner_cpu_seconds = 0;
  std::string last_decision;
  PipelineStats pipeline;
  std::uint64_t requests = 0;                       ///< Asked of files and stores by this process.
  std::uint64_t bytes_read = 0;                     ///< What they brought.
  std::optional<scheduler::ClusterStatus> cluster;  ///< Absent if the job has no cluster.
};

/// Returns the families listed in README.md, in that order.
std::vector<MetricFamily> metrics_of(const RunFigures& figures);

/// Figures of a separate head at one moment. A value.
struct HeadFigures {
  std::uint64_t memory_bytes = 0;
  std::optional<scheduler::ClusterStatus> cluster;  ///< Absent if the head does not answer.
};

/// Figures of a worker at one moment. A value.
struct WorkerFigures {
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_limit = 0;
  bool joined = false;             ///< A head has accepted it.
  std::uint64_t making = 0;        ///< Splits leased to it and not yet made.
  std::uint64_t ready = 0;         ///< Splits made and not handed over.
  std::uint64_t done = 0;          ///< Splits handed over.
  std::vector<StageStats> stages;  ///< Empty without a job; then the fields below are 0.
  std::uint64_t plain_bytes = 0;
  std::uint64_t packed_bytes = 0;
};

/// Returns the families listed in README.md, in that order.
std::vector<MetricFamily> metrics_of(const HeadFigures& figures);
std::vector<MetricFamily> metrics_of(const WorkerFigures& figures);

}  // namespace forebay
