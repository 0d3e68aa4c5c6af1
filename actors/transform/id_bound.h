#pragma once

#include <cstdint>
#include <limits>

#include "core/data/schema.h"

namespace forebay {

/// The ids a sparse column may hold, both ends included.
struct IdRange {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();

  static IdRange of(const SparseFeature& feature) {
    if (feature.bound <= 0) return {};
    return {0, feature.bound - 1};
  }

  /// SparseFeature::bound of ids in this range: 0 if an id is negative or the end has no successor.
  std::int64_t bound() const {
    return low >= 0 && high < std::numeric_limits<std::int64_t>::max() ? high + 1 : 0;
  }
};

}  // namespace forebay
