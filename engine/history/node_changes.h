#pragma once

#include <vector>

#include "engine/report/json_object.h"
#include "scheduler/cluster_status.h"

namespace forebay {

/// Returns what changed for the members of a cluster between two states, as the data of `node`
/// events: `{"node":"n1","change":"joined","host":"h","cpus":4}`, `prepared` (works on the job
/// now), `refused` (with `trouble`), `left`. A node that joined again under its name has left and
/// joined. Pure.
std::vector<JsonObject> node_changes(const scheduler::ClusterStatus& before,
                                     const scheduler::ClusterStatus& now);

}  // namespace forebay
