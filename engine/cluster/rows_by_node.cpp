#include "engine/cluster/rows_by_node.h"

namespace forebay {

void RowsByNode::made(std::uint64_t split, const std::string& node, std::uint64_t rows) {
  if (split < frontier_) {
    rows_[node] += rows;  // The trainer has received it already.
  } else {
    pending_[split] = {node, rows};
  }
}

void RowsByNode::given(const Position& position) {
  frontier_ = frontier(position);
  const auto end = pending_.lower_bound(frontier_);
  for (auto it = pending_.begin(); it != end; ++it) rows_[it->second.node] += it->second.rows;
  pending_.erase(pending_.begin(), end);
}

std::map<std::string, std::uint64_t> RowsByNode::at(const Position& position) const {
  std::map<std::string, std::uint64_t> rows = rows_;
  const std::uint64_t lowest = frontier(position);
  for (const std::uint32_t distance : position.ahead) {
    const auto found = pending_.find(lowest + distance);
    if (found != pending_.end()) rows[found->second.node] += found->second.rows;
  }
  const auto open = pending_.find(position.epoch * splits_per_epoch_ + position.first_split());
  if (position.split_rows > 0 && open != pending_.end()) {
    rows[open->second.node] += position.split_rows;
  }
  return rows;
}

}  // namespace forebay
