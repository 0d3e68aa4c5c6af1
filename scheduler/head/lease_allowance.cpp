#include "scheduler/head/lease_allowance.h"

#include <algorithm>

namespace forebay::scheduler {

void LeaseAllowance::late(std::uint64_t held, Time now) {
  in_time_ = 0;
  if (now < rests_until_) return;  // a split from before the rest
  most_ = std::min(most_, held) / 2;
  if (most_ > 0) return;
  rests_until_ = now + rest_;
  rest_ = std::min(2 * rest_, kLongestRest);
}

void LeaseAllowance::in_time() {
  if (most_ == kUnlimited || ++in_time_ < kInTime) return;
  in_time_ = 0;
  if (++most_ < kEnough) return;
  most_ = kUnlimited;
  rest_ = kFirstRest;
}

std::uint64_t LeaseAllowance::most(Time now) const {
  if (most_ == kUnlimited) return kUnlimited;
  return now < rests_until_ ? 0 : std::max<std::uint64_t>(most_, 1);
}

}  // namespace forebay::scheduler
