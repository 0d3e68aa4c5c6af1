#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forebay {

/// A sparse (categorical) feature: each row has a list of ids.
struct SparseFeature {
  std::string name;
  std::int64_t bound = 0;  ///< If > 0, ids lie in [0, bound); 0: any int64.

  bool operator==(const SparseFeature&) const = default;
};

/// The features of a row, without its label, in the order of columns and tensors.
struct Schema {
  std::vector<std::string> dense;
  std::vector<SparseFeature> sparse;

  bool operator==(const Schema&) const = default;
};

/// Describes the first column of `have` that differs from `want`; "" if both have the same names in
/// the same order.
std::string difference_in_names(const Schema& have, const Schema& want);

}  // namespace forebay
