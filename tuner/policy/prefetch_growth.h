#pragma once

#include <cstdint>

#include "tuner/observation.h"

namespace forebay::tuner {

/// Grows a prefetch as tf.data does (prefetch_autotuner.cc): when it was full and then empty when
/// the consumer asked, it is doubled, from 2048 on raised by 2048; never cut.
///
/// Counts within an interval have no order, so an interval that saw both full and empty counts as
/// full only; the prefetch then doubles at the next empty one.
class PrefetchGrowth {
 public:
  explicit PrefetchGrowth(std::uint32_t limit) : limit_(limit) {}

  /// The limit that tf.data would set now.
  std::uint32_t wanted(const Observation& seen);
  /// Sets the limit; a value below wanted() means that memory was refused.
  void set(std::uint32_t limit) { limit_ = limit; }

  std::uint32_t limit() const { return limit_; }

 private:
  std::uint32_t limit_;
  bool was_full_ = false;
};

}  // namespace forebay::tuner
