#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "actors/stage/split_times.h"
#include "core/runtime/synchronized.h"

namespace forebay {

/// A split that the reorder buffer has accepted. A value.
struct PastSplit {
  std::uint64_t number = 0;
  std::string node;  ///< The node that made it; empty: the trainer's own node.
  std::uint64_t rows = 0;
  SplitTimes times;
  SplitTimes::Span batch;  ///< Time in the reorder buffer, including waits for free prefetch bytes.
};

/// The last splits of a run, for `forebay trace`. Any thread.
class SplitHistory {
 public:
  static constexpr std::size_t kMost = 4096;

  void add(PastSplit split) {
    serial_([&] {
      if (splits_.size() == kMost) splits_.pop_front();
      splits_.push_back(std::move(split));
    });
  }
  /// Returns the splits, oldest first.
  std::vector<PastSplit> all() const {
    return serial_([this]() -> std::vector<PastSplit> { return {splits_.begin(), splits_.end()}; });
  }

 private:
  const Synchronized<> serial_{};
  std::deque<PastSplit> splits_;
};

}  // namespace forebay
