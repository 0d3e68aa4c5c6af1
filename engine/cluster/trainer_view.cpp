#include "engine/cluster/trainer_view.h"

#include <algorithm>
#include <cctype>
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

bool Problems::is_news(const std::string& problem, std::chrono::nanoseconds now) {
  constexpr std::chrono::seconds kAgain(30);
  std::string bare = problem;
  std::erase_if(bare, [](unsigned char letter) { return std::isdigit(letter) != 0; });
  const auto [said, fresh] = said_.emplace(bare, now);
  if (!fresh && now - said->second < kAgain) return false;
  said->second = now;
  return true;
}

void RowsByNode::begin(const Position& position) {
  given(position);
  resumed_split_ = open_split(position);
  rows_before_ = position.split_rows;
}

void RowsByNode::made(std::uint64_t split, const std::string& node, std::uint64_t rows) {
  const std::uint64_t own = own_rows(split, rows);
  if (split < frontier_) {
    rows_[node] += own;  // The trainer has received it already.
  } else {
    pending_[split] = {node, own};
  }
}

void RowsByNode::given(const Position& position) {
  frontier_ = frontier(position);
  const double part = static_cast<double>(position.split_rows) /
                      static_cast<double>(std::max<std::uint64_t>(1, rows_per_split_));
  taken_ = static_cast<double>(frontier_ + position.ahead.size()) + std::min(part, 1.0);
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
  const auto open = pending_.find(open_split(position));
  if (position.split_rows > 0 && open != pending_.end()) {
    rows[open->second.node] += own_rows(open->first, position.split_rows);
  }
  return rows;
}

}  // namespace forebay
