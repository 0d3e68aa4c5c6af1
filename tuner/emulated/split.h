#pragma once

#include <cstdint>

namespace forebay::tuner {

/// A split of a modelled pipeline: bytes that are counted and nowhere.
struct Split {
  std::uint64_t key = 0;
  double ready = 0;  ///< When the stage before was done with it, in seconds since the start.
};

}  // namespace forebay::tuner
