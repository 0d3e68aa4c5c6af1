#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "actors/loader_state.h"
#include "core/base/result.h"
#include "engine/energy/energy_meter.h"
#include "engine/job/job_spec.h"
#include "engine/report/json_object.h"
#include "engine/report/run_costs.h"
#include "engine/run/job_run.h"

namespace forebay {

/// Figures that `ingest` and `train` print at their end; the names are those of the JSON.
struct RunOutcome {
  std::uint64_t rows = 0;  ///< Of this run, like batches and seconds.
  std::uint64_t batches = 0;
  double seconds = 0;
  double starved_ratio = 0;
  std::uint64_t requests = 0;    ///< Asked of files and stores by this process and its workers,
                                 ///< index included.
  std::uint64_t bytes_read = 0;  ///< What they brought.
  /// Rows over stored rows of `columns.dedup`; 1 without (repeat_ratio()).
  double dedup_ratio = 1;
  std::uint64_t strata = 0;  ///< Grains that a split mixes at most; 0: blocks are not grains.
  std::uint64_t bad_rows = 0;
  std::uint64_t rows_held_out = 0;
  std::uint64_t epochs = 0;  ///< Completed since the start of the job.
  std::string order_digest;
  std::uint64_t peak_memory_bytes = 0;
  JsonObject allocation;                        ///< The actors requested for each stage, by name.
  std::vector<std::vector<std::string>> fused;  ///< The stages that share their actors.
  JsonObject plan;  ///< The operators as written and as run (plan_report.h).
  std::uint64_t prefetch = 0;
  std::uint64_t memory_limit = 0;
  PipelineStats stats;           ///< At the end of the stream of batches.
  double cpus_busy = 0;          ///< `cpu_seconds` over `seconds`.
  double cpu_seconds = 0;        ///< Of this process.
  EnergyUse energy;              ///< Of this machine and the workers.
  int cpus = 0;                  ///< That the process may use.
  PriceSpec prices;              ///< The job's.
  std::uint64_t decisions = 0;   ///< Decisions of the tuner.
  double tuner_cpu_seconds = 0;  ///< Used by the tuner's thread.
  std::string last_decision;     ///< Description of the last decision.
  std::string quarantine;
  std::string address;  ///< The address that workers joined; "": no listener.
  std::map<std::string, std::uint64_t> rows_by_node;  ///< Rows of the splits made by each node.
  /// What each worker asked, which is part of `requests` and `bytes_read`.
  struct Asked {
    std::uint64_t requests = 0;
    std::uint64_t bytes = 0;
  };
  std::map<std::string, Asked> asked_by_node;

  double rows_per_second() const { return seconds > 0 ? static_cast<double>(rows) / seconds : 0; }
};

JsonObject to_json(const RunOutcome& outcome);

/// Returns what the run cost by the job's prices.
RunMoney money_of(const RunOutcome& outcome);

/// Reads a loader state that `--state` wrote; refuses files in another format or larger than any
/// state.
Result<LoaderState> read_state_file(const std::string& path);

/// Writes a temporary file, syncs it and renames it, so that the file is always complete.
Status write_state_file(const std::string& path, const LoaderState& state);

}  // namespace forebay
