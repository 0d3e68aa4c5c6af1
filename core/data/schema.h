#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forebay {

/// A sparse (categorical) feature: a list of ids a row.
struct SparseFeature {
  std::string name;
  std::int64_t bound = 0;  ///< Ids lie in [0, bound) when > 0; 0: any int64.

  bool operator==(const SparseFeature&) const = default;
};

/// The features of a row beside its label, in the order that columns and tensors have.
struct Schema {
  std::vector<std::string> dense;
  std::vector<SparseFeature> sparse;

  bool operator==(const Schema&) const = default;
};

/// Where the columns of `have` are not those of `want`, the first of them, in words; "" where both
/// have the same names in the same order.
std::string difference_in_names(const Schema& have, const Schema& want);

}  // namespace forebay
