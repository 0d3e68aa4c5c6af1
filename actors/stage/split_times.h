#pragma once

#include <array>
#include <chrono>

namespace forebay {

/// When what happened to a split, each by the monotonic clock of the node where it did; 0: it has
/// not. Travels with the split. A value.
struct SplitTimes {
  using Time = std::chrono::nanoseconds;
  struct Span {
    Time begin{0};
    Time end{0};
  };
  std::array<Span, 4> stages = {};  ///< load, decode, shuffle, transform.
  Time sent{0};                     ///< Finished, to be sent to the trainer's node;
  Time arrived{0};                  ///< there. Both 0: it was made there.
};

}  // namespace forebay
