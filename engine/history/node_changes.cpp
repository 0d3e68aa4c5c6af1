#include "engine/history/node_changes.h"

#include <algorithm>
#include <string>

namespace forebay {
namespace {

using scheduler::ClusterStatus;
using scheduler::NodeStatus;

const NodeStatus* find(const ClusterStatus& cluster, const NodeStatus& node) {
  const auto found = std::ranges::find_if(cluster.nodes, [&](const NodeStatus& other) {
    return other.name == node.name && other.incarnation == node.incarnation;
  });
  return found == cluster.nodes.end() ? nullptr : &*found;
}

JsonObject change_of(const NodeStatus& node, const char* change) {
  JsonObject json;
  json.add("node", node.name).add("change", change).add("host", node.host).add("cpus", node.cpus);
  if (node.state == NodeStatus::State::kRefused) json.add("trouble", node.trouble);
  return json;
}

const char* name_of(NodeStatus::State state) {
  if (state == NodeStatus::State::kRefused) return "refused";
  return state == NodeStatus::State::kPrepared ? "prepared" : "joined";
}

}  // namespace

std::vector<JsonObject> node_changes(const ClusterStatus& before, const ClusterStatus& now) {
  std::vector<JsonObject> changes;
  for (const NodeStatus& node : before.nodes) {
    if (find(now, node) == nullptr) changes.push_back(change_of(node, "left"));
  }
  for (const NodeStatus& node : now.nodes) {
    const NodeStatus* then = find(before, node);
    if (then == nullptr) changes.push_back(change_of(node, "joined"));
    const auto state_then = then == nullptr ? NodeStatus::State::kJoined : then->state;
    if (node.state != state_then) changes.push_back(change_of(node, name_of(node.state)));
  }
  return changes;
}

}  // namespace forebay
