#include "engine/cluster/trainer_view.h"

#include <utility>

namespace forebay {

scheduler::ClusterStatus trainer_view(const std::string& job,
                                      std::optional<scheduler::ClusterStatus> head,
                                      const scheduler::SplitClientStatus& split_client) {
  scheduler::ClusterStatus seen;
  // Nodes and problems of another job do not concern this one.
  if (head && head->job == job) seen = std::move(*head);
  if (!split_client.open || seen.problems.empty()) {
    seen.problems.insert(seen.problems.end(), split_client.problems.begin(),
                         split_client.problems.end());
  }
  return seen;
}

std::string refusals(const scheduler::ClusterStatus& cluster) {
  std::string all;
  for (const scheduler::NodeStatus& node : cluster.nodes) {
    if (node.state == scheduler::NodeStatus::State::kPrepared) return {};
    if (node.state == scheduler::NodeStatus::State::kRefused)
      all += node.name + ": " + node.trouble + '\n';
  }
  return all;
}

}  // namespace forebay
