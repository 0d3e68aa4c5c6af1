#include "engine/actors/cluster/lost_nodes.h"

#include <algorithm>

#include "engine/actors/cluster/directory/actor_record.h"

namespace forebay {

void LostNodes::add(const LostNode& lost) {
  if (!is_actor_name(lost.node)) return;
  last_lives_[lost.node] = lost.last_life;
  if (last_lives_.size() <= kMost) return;
  last_lives_.erase(std::min_element(
      last_lives_.begin(), last_lives_.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; }));
}

bool LostNodes::has(const std::string& node, std::uint64_t life) const {
  const auto found = last_lives_.find(node);
  return found != last_lives_.end() && life <= found->second;
}

std::vector<LostNode> LostNodes::list() const {
  std::vector<LostNode> all;
  for (const auto& [node, last_life] : last_lives_) all.push_back({node, last_life});
  return all;
}

}  // namespace forebay
