#pragma once

#include "engine/metrics/run_figures.h"
#include "engine/report/json_object.h"

namespace forebay {

/// A run at one moment as `forebay status --json` gives it: sums since its start, from which a
/// second look tells rates.
JsonObject status_of(const RunFigures& figures);

/// The same of a cluster, as its head sees it: nodes, leases, what is wrong.
JsonObject status_of(const scheduler::ClusterStatus& cluster);

}  // namespace forebay
