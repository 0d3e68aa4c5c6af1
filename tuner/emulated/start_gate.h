#pragma once

#include <algorithm>
#include <deque>
#include <limits>

#include "tuner/emulated/work_item.h"

namespace forebay::tuner {

/// Keeps the starts of a stage's work at least 1/max_rate apart; unused starts are not saved up.
/// First in, first out. Pure.
class StartGate {
 public:
  /// Splits/s; 0: no limit. Also applies to the work that waits.
  void set_max_rate(double rate) { gap_ = rate > 0 ? 1 / rate : 0; }

  void add(WorkItem& work) { waiting_.push_back(&work); }

  /// When the next work may start; infinity if no work waits.
  double next_start() const {
    if (waiting_.empty()) return std::numeric_limits<double>::infinity();
    const double begin = waiting_.front()->begin;
    return gap_ > 0 ? std::max(begin, last_start_ + gap_) : begin;
  }

  /// Removes and returns the next work, which starts at next_start().
  WorkItem& pop() {
    last_start_ = next_start();
    WorkItem& work = *waiting_.front();
    waiting_.pop_front();
    return work;
  }

 private:
  double gap_ = 0;
  double last_start_ = -std::numeric_limits<double>::infinity();
  std::deque<WorkItem*> waiting_;
};

}  // namespace forebay::tuner
