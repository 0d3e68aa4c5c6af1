#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/analyze/parts.h"
#include "engine/analyze/rate_model.h"
#include "engine/job/job_spec.h"

namespace forebay {

/// A change of a job, and the rate that it would have. A value.
struct WhatIf {
  enum class Kind : std::uint8_t {
    kHalfCpus,
    kTwiceCpus,
    kHalfMemory,
    kBatchSize,
    kWorkers,
    kFewerWorkers,
    kDisk,
    kOperator,
    kTrainer,
    kAllocation
  };

  Kind kind = Kind::kHalfCpus;
  std::string change;  ///< As for `--set`, or in words.
  double rows_per_second = 0;
  bool by_trial = false;  ///< Measured; else the model's.
  std::string note = {};  ///< Why the job cannot run under it; else empty.
  /// The changed job, where a short run of it can say more than the model; empty: there is none.
  std::optional<JobSpec> trial = {};
};

/// The job of an analysis, its measurements, and the resources of the machine.
struct Analysed {
  const JobSpec& job;
  const RateModel& model;
  const std::vector<Piece>& pieces;
  double rows_per_second = 0;  ///< Measured.
  int machine_cpus = 1;        ///< That the process could use.
  /// Returns a command that starts so many workers on this machine, called as `cluster.scale` is;
  /// "": it cannot. Empty function: none are started.
  std::function<std::string(std::uint32_t workers)> local_workers = {};
};

/// Returns all changes that are looked at, with the model's rates, half and twice the CPUs first.
///
/// Workers end with a run. So a job with workers is tried out only where `cluster.scale` starts
/// them again, and without any of them always. Pure.
std::vector<WhatIf> what_ifs(const Analysed& analysed);

}  // namespace forebay
