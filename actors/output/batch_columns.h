#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/data/batch.h"

namespace forebay {

/// The ids and lengths of one sparse column in a batch.
struct SparseRows {
  std::span<const std::int64_t> ids;
  std::span<const std::int32_t> lengths;
  std::int32_t longest = 0;  ///< The largest of `lengths`.
};

/// Returns the sparse columns of a batch, in order.
std::vector<SparseRows> sparse_rows(const Batch& batch);

/// Writes the dense values of a batch column by column: `out` has [dense_features, rows].
void dense_columns(const Batch& batch, std::vector<float>& out);

}  // namespace forebay
