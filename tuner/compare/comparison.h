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

/// Every policy on every pipeline, with seeds 1 to `seeds`.
struct ComparisonOptions {
  std::vector<PipelineModel> pipelines;
  std::vector<std::string> policies;  ///< As RunRequest::policy.
  std::uint64_t seeds = 3;
  std::optional<std::uint64_t> decisions = {};  ///< As RunRequest::decisions.
  std::string weights = {};
  MachineMaker make_machine;
  int threads = 1;                     ///< Runs at a time.
  bool keep_periods = true;            ///< False: figures alone are kept of a run, to save memory.
  std::function<bool()> stopped = {};  ///< Any thread asks it, every period.
  std::function<void(std::uint64_t)> progress = {};  ///< Runs done; any thread calls it.
};

/// Runs of the whole comparison.
std::uint64_t runs_of(const ComparisonOptions& options);

/// Whether every run can be made: kInvalid names what cannot.
Status check_comparison(const ComparisonOptions& options);

/// Runs it, after check_comparison. By pipeline, policy and seed, whatever finished first; runs
/// that were stopped before their end are left out.
std::vector<ComparedRun> compare(const ComparisonOptions& options);

}  // namespace forebay::tuner
