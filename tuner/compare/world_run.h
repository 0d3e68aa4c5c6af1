#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tuner/compare/comparison.h"
#include "tuner/world/modelled_world.h"
#include "tuner/world/oracle_line.h"

namespace forebay::tuner {

/// Whether the guard checks a policy's proposals in a comparison.
bool is_guarded(const std::string& policy);

/// The moments of a model's events, each once, by time.
std::vector<double> moments_of(const PipelineModel& model);

/// check_run() of a world.
Status check_world_run(const RunRequest& request);

/// The yardstick of a request's world, over the length of its run.
std::vector<OracleSpan> world_line(const RunRequest& request);

/// run_one() of a world that `make` starts: every node has a policy of its own, which sees what
/// that node can measure; `oracle` sets what `line` says. Fails if the world cannot be started, or
/// ends with an error.
Result<ComparedRun> run_world(const RunRequest& request, const std::vector<OracleSpan>& line,
                              const WorldMaker& make, const std::function<bool()>& stopped);

}  // namespace forebay::tuner
