#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/actors/cluster/cluster_messages.h"

namespace forebay {

/// Nodes that a head has lost: which lives on them do not count any more.
///
/// Of at most kMost nodes, those lost last; what no node can be named is left out. Belongs to one
/// thread.
class LostNodes {
 public:
  static constexpr std::size_t kMost = 4096;

  void add(const LostNode& lost);
  /// It has registered again, and ends what does not count.
  void erase(const std::string& node) { last_lives_.erase(node); }
  /// Whether this life on the node was lost.
  bool has(const std::string& node, std::uint64_t life) const;
  std::vector<LostNode> list() const;

 private:
  std::map<std::string, std::uint64_t> last_lives_;  // by node
};

}  // namespace forebay
