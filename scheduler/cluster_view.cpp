#include "scheduler/cluster_view.h"

#include <algorithm>
#include <cmath>

#include "core/base/seconds.h"

namespace forebay::scheduler {

double RateMeter::update(std::uint64_t count, std::chrono::nanoseconds now) {
  if (!begun_ || count < count_) {  // The first call, or the counter was reset.
    begun_ = true;
    count_ = count;
    since_ = now;
    return rate_;
  }
  const double seconds = in_seconds(now - since_);
  if (seconds < 0.1) return rate_;
  const double fresh = static_cast<double>(count - count_) / seconds;
  const double span = in_seconds(kSpan);
  const double weight = measured_ ? 1 - std::exp(-seconds / span) : 1;
  rate_ += weight * (fresh - rate_);
  measured_ = measured_ || count > count_;  // Before the first item, the mean would be too low.
  count_ = count;
  since_ = now;
  return rate_;
}

NodeView* ClusterView::find(std::uint64_t incarnation) {
  const auto found = nodes_.find(incarnation);
  return found == nodes_.end() ? nullptr : &found->second;
}

NodeView* ClusterView::find(const std::string& name) {
  for (auto& [incarnation, node] : nodes_) {
    if (node.name == name) return &node;
  }
  return nullptr;
}

std::size_t ClusterView::num_prepared() const {
  return static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), [](const auto& node) {
    return node.second.state == NodeView::State::kPrepared;
  }));
}

double ClusterView::rate() const {
  double sum = 0;
  for (const auto& [incarnation, node] : nodes_) sum += node.rate;
  return sum;
}

double ClusterView::mean_remote_rate() const {
  double sum = 0;
  double count = 0;
  for (const auto& [incarnation, node] : nodes_) {
    if (node.distance == Distance::kSameProcess || node.rate <= 0) continue;
    sum += node.rate;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace forebay::scheduler
