#pragma once

#include <cstdint>

namespace forebay::tuner {

/// A split of a modelled pipeline: its bytes are counted but not allocated.
struct Split {
  std::uint64_t key = 0;
  double ready = 0;  ///< When the previous stage finished it, in seconds since the start.
};

}  // namespace forebay::tuner
