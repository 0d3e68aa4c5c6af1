#pragma once

#include <cstdint>
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

/// The job of an analysis, what was measured of it, and what the machine has.
struct Analysed {
  const JobSpec& job;
  const RateModel& model;
  const std::vector<Piece>& pieces;
  double rows_per_second = 0;  ///< Measured.
  int machine_cpus = 1;        ///< That the process could use.
  bool trials = true;          ///< Whether the job can be run again.
};

/// Returns all changes that are looked at, with the model's rates, half and twice the CPUs first.
/// Pure.
std::vector<WhatIf> what_ifs(const Analysed& analysed);

}  // namespace forebay
