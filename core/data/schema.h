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

/// A column that readers of batches get unchanged and a model never sees: 8 bytes a row.
struct ExtraColumn {
  enum class Kind : std::uint8_t { kInt64, kFloat64 };

  std::string name;
  Kind kind = Kind::kInt64;

  bool operator==(const ExtraColumn&) const = default;
};

/// Features whose values repeat together over neighbouring rows, by their numbers.
struct FeatureGroup {
  std::vector<std::size_t> dense = {};
  std::vector<std::size_t> sparse = {};

  bool operator==(const FeatureGroup&) const = default;
};

/// The columns of a row beside its label, in the order of columns and tensors.
struct Schema {
  std::vector<std::string> dense;
  std::vector<SparseFeature> sparse;
  bool weight = false;  ///< Whether each row has a weight.
  std::vector<ExtraColumn> extra = {};
  std::vector<FeatureGroup> repeated = {};  ///< A feature is in at most one group.

  bool operator==(const Schema&) const = default;
};

/// Describes the first feature of `have` that differs from `want`; "" if both have the same names
/// in the same order. Weights and extra columns are no features.
std::string difference_in_names(const Schema& have, const Schema& want);

}  // namespace forebay
