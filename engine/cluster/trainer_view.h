#pragma once

#include <optional>
#include <string>

#include "scheduler/cluster_status.h"

namespace forebay {

/// How the cluster of `job` looks from its trainer: what the head says of it, or, where the head
/// cannot be asked or serves another job, only what the split client makes of that. What is wrong
/// never goes without a word: where the head finds nothing, the split client's problems stand.
/// Pure.
scheduler::ClusterStatus trainer_view(const std::string& job,
                                      std::optional<scheduler::ClusterStatus> head,
                                      const scheduler::SplitClientStatus& split_client);

/// Why workers of a job that nobody makes splits of were refused, in one text; empty while any
/// makes some, or when none was refused. Pure.
std::string refusals(const scheduler::ClusterStatus& cluster);

}  // namespace forebay
