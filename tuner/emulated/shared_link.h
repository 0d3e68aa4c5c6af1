#pragma once

#include <algorithm>
#include <limits>
#include <queue>
#include <vector>

#include "tuner/emulated/virtual_machine_work.h"

namespace forebay::tuner {

/// The link from a node to the trainer: the splits on it share its rate evenly. Ends are kept in
/// the bytes that each split on it has crossed with. Pure: times are passed in and never go back.
/// Does not own the work.
class SharedLink {
 public:
  /// Bytes a second; 0: a split crosses at once.
  void set_rate(double rate, double now) {
    advance(now);
    rate_ = rate;
  }

  /// A split of `bytes` bytes began to cross at `at`, at most `now`.
  void start(WorkItem& work, double bytes, double at, double now) {
    advance(now);
    const double others = static_cast<double>(crossing_.size());
    const double crossed = std::min(bytes, std::max(0.0, now - at) * rate_ / (others + 1));
    crossing_.push({crossed_ + bytes - crossed, &work});
  }

  double next_end() const {
    if (crossing_.empty()) return std::numeric_limits<double>::infinity();
    if (rate_ <= 0) return now_;
    const double left = std::max(0.0, crossing_.top().end - crossed_);
    return now_ + left * static_cast<double>(crossing_.size()) / rate_;
  }

  void advance(double now) {
    const double passed = std::max(0.0, now - now_);
    if (!crossing_.empty()) crossed_ += passed * rate_ / static_cast<double>(crossing_.size());
    now_ = std::max(now_, now);
  }

  /// Removes the split that has crossed now.
  WorkItem& pop(double now) {
    advance(now);
    WorkItem& work = *crossing_.top().work;
    crossing_.pop();
    work.end = now;
    work.wait_seconds = work.seconds();
    return work;
  }

  /// Removes all splits and appends them to `dropped`.
  void drop(std::vector<WorkItem*>& dropped) {
    for (; !crossing_.empty(); crossing_.pop()) dropped.push_back(crossing_.top().work);
  }

 private:
  struct Crossing {
    double end = 0;
    WorkItem* work = nullptr;
    bool operator<(const Crossing& other) const { return end > other.end; }
  };

  double rate_ = 0;
  double now_ = 0;
  double crossed_ = 0;  // Bytes of a split that is always on the link.
  std::priority_queue<Crossing> crossing_ = {};
};

}  // namespace forebay::tuner
