#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tuner/compare/machine.h"
#include "tuner/compare/run.h"

namespace forebay::tuner {

/// Runs every policy on every pipeline, with seeds 1 to `seeds`.
struct ComparisonOptions {
  std::vector<PipelineModel> pipelines;
  std::vector<std::string> policies;  ///< As RunRequest::policy.
  std::uint64_t seeds = 3;
  std::optional<std::uint64_t> decisions = {};  ///< As RunRequest::decisions.
  std::string weights = {};
  MachineMaker make_machine;
  int threads = 1;                     ///< Concurrent runs.
  bool keep_periods = true;            ///< False: keeps only a run's figures, to save memory.
  std::function<bool()> stopped = {};  ///< Called every period, from any thread.
  std::function<void(std::uint64_t)> progress = {};  ///< Gets the runs done; any thread.
};

/// Number of runs of the whole comparison.
std::uint64_t runs_of(const ComparisonOptions& options);

/// Checks that every run can be made; kInvalid names the one that cannot.
Status check_comparison(const ComparisonOptions& options);

/// Runs the comparison; call check_comparison first. The result is ordered by pipeline, policy and
/// seed, independent of the order of completion; runs that were stopped before their end are left
/// out.
std::vector<ComparedRun> compare(const ComparisonOptions& options);

}  // namespace forebay::tuner
