#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "tuner/compare/drive.h"
#include "tuner/compare/machine.h"
#include "tuner/compare/metrics.h"
#include "tuner/compare/shortfall.h"
#include "tuner/policy/policies.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay::tuner {

/// One run of a comparison: a policy on a pipeline, with a seed for both machine and policy.
struct RunRequest {
  const PipelineModel& model;
  std::string policy;  ///< Its name.
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> decisions = {};  ///< Empty: as many as `decisions_for` returns.
  std::string weights = {};                     ///< See PolicyContext.
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
};

/// 60 decisions, or as many as reach 300 s past the last event.
std::uint64_t decisions_for(const PipelineModel& model);

/// Checks that the run can be made; kInvalid names the nearest policy, or the input that is
/// missing.
Status check_run(const RunRequest& request);

/// Drives the run to its end, or until `stopped` (its record then says so). The request must pass
/// check_run.
ComparedRun run_one(const RunRequest& request, const MachineMaker& make_machine,
                    const std::function<bool()>& stopped);

}  // namespace forebay::tuner
