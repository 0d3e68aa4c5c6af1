#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "actors/stage/split_times.h"
#include "core/runtime/synchronized.h"

namespace forebay {

/// Who made a split elsewhere, and when.
struct SplitOrigin {
  std::string node;
  SplitTimes times;
};

/// A split that the reorder buffer has taken. A value.
struct PastSplit {
  std::uint64_t number = 0;
  std::string node;  ///< Who made it; empty: the trainer's own.
  std::uint64_t rows = 0;
  SplitTimes times;
  SplitTimes::Span batch;  ///< In the reorder buffer, its waiting for room for batches included.
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
  /// The oldest first.
  std::vector<PastSplit> all() const {
    return serial_([this]() -> std::vector<PastSplit> { return {splits_.begin(), splits_.end()}; });
  }

 private:
  const Synchronized<> serial_{};
  std::deque<PastSplit> splits_;
};

}  // namespace forebay
