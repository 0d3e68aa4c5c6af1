#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/pipeline.h"
#include "engine/metrics/metric_family.h"
#include "scheduler/cluster_status.h"

namespace forebay {

/// A head of its own at one moment. A value.
struct HeadFigures {
  std::uint64_t memory_bytes = 0;
  std::optional<scheduler::ClusterStatus> cluster;  ///< Absent while the head does not answer.
};

/// A worker at one moment. A value.
struct WorkerFigures {
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_limit = 0;
  bool joined = false;             ///< A head counts it in.
  std::uint64_t making = 0;        ///< Splits that it was leased and has not made.
  std::uint64_t ready = 0;         ///< Made, and not handed over.
  std::uint64_t done = 0;          ///< Handed over.
  std::vector<StageStats> stages;  ///< Empty while it has no job, as those below are 0.
  std::uint64_t plain_bytes = 0;
  std::uint64_t packed_bytes = 0;
};

/// The families of README.md, in its order.
std::vector<MetricFamily> metrics_of(const HeadFigures& figures);
std::vector<MetricFamily> metrics_of(const WorkerFigures& figures);

}  // namespace forebay
