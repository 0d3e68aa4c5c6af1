#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "engine/report/json_object.h"
#include "engine/run/job_run.h"

namespace forebay {

/// The figures that `ingest` and `train` both end with; the names are those of the JSON.
struct RunOutcome {
  std::uint64_t rows = 0;  ///< Of this run, as are batches and seconds.
  std::uint64_t batches = 0;
  double seconds = 0;
  double starved_ratio = 0;
  std::uint64_t bad_rows = 0;
  std::uint64_t rows_held_out = 0;
  std::uint64_t epochs = 0;  ///< Completed since the start of the job.
  std::string order_digest;
  std::uint64_t peak_memory_bytes = 0;
  Allocation allocation;
  std::uint64_t prefetch = 0;
  std::uint64_t memory_limit = 0;
  PipelineStats stats;           ///< When the stream of batches ended.
  double cpus_busy = 0;          ///< CPU seconds of the process over `seconds`.
  std::uint64_t decisions = 0;   ///< Of the tuner.
  double tuner_cpu_seconds = 0;  ///< Used by its thread.
  std::string last_decision;     ///< In words.
  std::string quarantine;
  std::string address;                                ///< Where workers joined; "": nowhere.
  std::map<std::string, std::uint64_t> rows_by_node;  ///< Rows of the splits that each made.

  double rows_per_second() const { return seconds > 0 ? static_cast<double>(rows) / seconds : 0; }
};

/// Of a run that ended at `position`, of which `waited` was spent without data.
RunOutcome outcome_of(const JobRun& run, const Position& position, std::chrono::nanoseconds elapsed,
                      std::chrono::nanoseconds waited);

JsonObject to_json(const RunOutcome& outcome);

}  // namespace forebay
