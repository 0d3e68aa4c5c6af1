#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tuner/compare/drive.h"
#include "tuner/compare/metrics.h"
#include "tuner/policy/policies.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/simulator.h"
#include "tuner/world/modelled_world.h"
#include "tuner/world/oracle_line.h"

namespace forebay::tuner {

/// One run of a comparison: a policy on a pipeline, with a seed for both machine and policy.
struct RunRequest {
  const PipelineModel& model;
  std::string policy;  ///< Its name.
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> decisions = {};  ///< Empty: as many as `decisions_for` returns.
  std::string weights = {};                     ///< See PolicyContext.
  FindBest find_best = {};  ///< Of worlds; empty: find_best(). Called by one thread at a time.
};

/// A node's part of a run on a world.
struct NodeShare {
  std::string name;
  double share = 0;   ///< Of all splits trained, those that it made.
  double actors = 0;  ///< Mean of the last ten periods.
  std::uint64_t memory_peak = 0;
  bool out_of_memory = false;
};

/// The result of one run.
struct ComparedRun {
  std::string pipeline;
  std::string policy;
  std::uint64_t seed = 1;
  std::uint64_t decisions = 0;
  double bottleneck_share = 0;     ///< bottleneck_share() of the model at the start.
  std::uint64_t memory_limit = 0;  ///< The limit at the start.
  bool out_of_memory = false;
  RunFigures figures;
  Shortfall shortfall;
  DriveRecord record;
  bool best_known = false;            ///< The oracle's rates come from a search.
  std::vector<NodeShare> nodes = {};  ///< Of a model with nodes.
  /// Of `central`: nodes beside the trainer's that got splits, mean of the last ten periods.
  std::optional<double> fed_workers = {};
};

/// 60 decisions, or as many as reach 300 s past the last event.
std::uint64_t decisions_for(const PipelineModel& model);

/// Checks that the run can be made; kInvalid names the nearest policy, or the input that is
/// missing.
Status check_run(const RunRequest& request);

/// Drives the run to its end, or until `stopped` (its record then says so). The request must pass
/// check_run. A world is simulated, whatever `make_machine` makes: one policy and one guard for
/// each node.
ComparedRun run_one(const RunRequest& request, const MachineMaker& make_machine,
                    const std::function<bool()>& stopped);

/// Runs every policy on every pipeline, with seeds 1 to `seeds`.
struct ComparisonOptions {
  std::vector<PipelineModel> pipelines;
  std::vector<std::string> policies;  ///< As RunRequest::policy.
  std::uint64_t seeds = 3;
  std::optional<std::uint64_t> decisions = {};  ///< As RunRequest::decisions.
  std::string weights = {};
  FindBest find_best = {};  ///< As RunRequest::find_best.
  MachineMaker make_machine;
  WorldMaker make_world = {};          ///< Of models that are worlds.
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
/// out. After an error of a world no further run begins; the error names the world.
Result<std::vector<ComparedRun>> compare(const ComparisonOptions& options);

}  // namespace forebay::tuner
