#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/pipeline.h"
#include "engine/energy/energy_meter.h"
#include "engine/metrics/metrics_server.h"
#include "scheduler/cluster_status.h"

namespace forebay {

/// What a job's model has learned so far. A value.
struct Learning {
  struct Evaluation {
    std::uint64_t step = 0;
    std::optional<double> auc = {};
    std::optional<double> log_loss = {};  ///< In nats.
  };

  /// Where the rows of one table lie (trainer/table_tiers.h).
  struct Table {
    std::string name;
    std::uint64_t rows = 0;
    std::uint64_t row_bytes = 0;
    std::uint64_t in_memory = 0;
    std::uint64_t on_disk = 0;
    std::uint64_t lookups = 0;
    std::uint64_t found = 0;
  };

  std::uint64_t step = 0;           ///< Steps since the start of the job.
  std::optional<double> loss = {};  ///< Mean over the steps of the last second.
  std::uint64_t lookups = 0;        ///< Of rows of tables in tiers; 0 without such tables.
  std::uint64_t lookups_ready = 0;  ///< Of those, the ones whose row was in memory in time.
  std::vector<Evaluation> evaluations = {};  ///< The last ones.
  std::vector<Table> tables = {};            ///< As of the last second.
};

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
  std::uint64_t memory_before = 0;  ///< In use before the pipeline started: program and model.
  std::uint64_t buffer_bytes = 0;   ///< Of all buffers: splits, batches, idle ones.
  std::uint64_t cpus = 0;           ///< CPUs that the run may use.
  double cpu_seconds = 0;           ///< Used by the process since the run started.
  std::uint64_t bad_rows = 0;
  std::uint64_t bad_rows_allowed = 0;
  std::uint64_t decisions = 0;  ///< Decisions of the tuner.
  double tuner_cpu_seconds = 0;
  std::string last_decision;
  PipelineStats pipeline;
  std::uint64_t requests = 0;                       ///< Asked of files and stores by this process.
  std::uint64_t bytes_read = 0;                     ///< What they brought.
  EnergyUse energy = {};                            ///< Of the run so far, with its workers.
  std::optional<scheduler::ClusterStatus> cluster;  ///< Absent if the job has no cluster.
  Learning learning = {};
  std::string table_storage = {};  ///< `trainer.tables.storage`; empty: nothing is trained.
  std::uint64_t table_memory = 0;  ///< Bytes that rows of tables in tiers may take in memory.
  std::string limit = {};          ///< The verdict's (verdict.h), of the last seconds.
  std::string verdict = {};        ///< Its sentence; empty: there is none yet.
  double gain = 0;
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
