#pragma once

#include "engine/metrics/figures.h"
#include "engine/report/json_object.h"

namespace forebay {

/// Returns a run's state as printed by `forebay status --json`. Values are sums since the start;
/// two such reports give rates.
JsonObject status_of(const RunFigures& figures);

/// Returns the same for a cluster, as its head sees it: nodes, leases, problems.
JsonObject status_of(const scheduler::ClusterStatus& cluster);

/// Returns what a model has learned: `step`, `loss`, `lookups`, `lookups_ready`, `tables`,
/// `evaluations`.
JsonObject learning_json(const Learning& learning);

/// Returns the actors requested for each stage, by its name.
JsonObject allocation_of(const PipelineStats& stats);

}  // namespace forebay
