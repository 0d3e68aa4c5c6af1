#include "tuner/cluster/steady_count.h"

#include <algorithm>

namespace forebay::tuner {

std::uint32_t SteadyCount::of(std::uint32_t computed) {
  if (!now_) now_ = computed;
  const Side side = computed > *now_   ? Side::kHigher
                    : computed < *now_ ? Side::kLower
                                       : Side::kSame;
  if (side != side_) {
    side_ = side;
    intervals_ = 0;
    next_ = computed;
  }
  next_ = side == Side::kHigher ? std::min(next_, computed) : std::max(next_, computed);
  if (++intervals_ < (side == Side::kHigher ? kHigher : kLower)) return *now_;
  side_ = Side::kSame;
  now_ = next_;
  return *now_;
}

}  // namespace forebay::tuner
