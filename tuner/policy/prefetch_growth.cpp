#include "tuner/policy/prefetch_growth.h"

#include <algorithm>

namespace forebay::tuner {

namespace {
constexpr std::uint32_t kLinearFrom = 2048;
}

std::uint32_t PrefetchGrowth::wanted(const Observation& seen) {
  const bool grows = was_full_ && seen.prefetch_empty > 0;
  if (grows) was_full_ = false;
  if (seen.prefetch_full > 0) was_full_ = true;
  return grows ? limit_ + std::min(limit_, kLinearFrom) : limit_;
}

}  // namespace forebay::tuner
