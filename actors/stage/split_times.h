#pragma once

#include <chrono>
#include <vector>

namespace forebay {

/// The times of a split's stages, each by the monotonic clock of the node where the stage ran.
/// Travels with the split. A value.
struct SplitTimes {
  using Time = std::chrono::nanoseconds;
  struct Span {
    Time begin{0};
    Time end{0};
  };
  std::vector<Span> stages = {};  ///< Of the stages that have run, in order.
  Time sent{0};     ///< The split was finished and ready to be sent to the trainer's node.
  Time arrived{0};  ///< It arrived there. `sent` and `arrived` are 0 if it was made there.
};

}  // namespace forebay
