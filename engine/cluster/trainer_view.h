#pragma once

#include <optional>
#include <string>

#include "scheduler/cluster_status.h"

namespace forebay {

/// Returns the cluster status of `job` as its trainer sees it: the head's status, or only the split
/// client's if the head cannot be asked or serves another job. Problems are never dropped: if the
/// head reports none of them, the split client's problems are included. Pure.
scheduler::ClusterStatus trainer_view(const std::string& job,
                                      std::optional<scheduler::ClusterStatus> head,
                                      const scheduler::SplitClientStatus& split_client);

/// Returns why workers were refused, as one text, if no node makes splits of the job; empty if a
/// node does, or if no worker was refused. Pure.
std::string refusals(const scheduler::ClusterStatus& cluster);

}  // namespace forebay
