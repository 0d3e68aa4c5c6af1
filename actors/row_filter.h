#pragma once

#include <cstdint>

#include "core/base/random.h"

namespace forebay {

/// Selects the rows held out for evaluation: a pure function of (seed, file number, byte offset),
/// so that training and evaluation agree on any machine and in any order.
class RowFilter {
 public:
  enum class Keep : std::uint8_t { kAll, kTraining, kHeldOut };

  RowFilter() = default;
  RowFilter(Keep keep, std::uint64_t seed, double share)
      : keep_(share > 0 ? keep : Keep::kAll), seed_(seed), threshold_(threshold_of(share)) {}

  bool keeps_all() const { return keep_ == Keep::kAll; }

  /// Whether the filter keeps the row that starts at `offset` of file number `file`.
  bool keeps(std::uint32_t file, std::uint64_t offset) const {
    if (keep_ == Keep::kAll) return true;
    const bool held_out = mix64(mix64(seed_, file), offset) < threshold_;
    return held_out == (keep_ == Keep::kHeldOut);
  }

 private:
  static std::uint64_t threshold_of(double share) {
    return share >= 1 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(share * 0x1.0p64);
  }

  Keep keep_ = Keep::kAll;
  std::uint64_t seed_ = 0;
  std::uint64_t threshold_ = 0;
};

}  // namespace forebay
