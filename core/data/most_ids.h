#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay {

/// Bounds of the ids in a batch, by which memory is reserved before any batch is there. `all` may
/// be less than the sum over the features: of several columns of lists at most one is that long.
struct MostIds {
  std::uint64_t all = 0;
  std::vector<std::uint64_t> of_feature = {};

  bool operator==(const MostIds&) const = default;

  /// Of batches of `rows` rows without lists.
  static MostIds one_each(std::uint64_t rows, std::size_t features) {
    return {.all = rows * features, .of_feature = std::vector<std::uint64_t>(features, rows)};
  }
  std::uint64_t largest() const {
    return of_feature.empty() ? 0 : *std::ranges::max_element(of_feature);
  }
};

}  // namespace forebay
