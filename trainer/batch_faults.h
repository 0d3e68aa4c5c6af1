#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/spec.h"

namespace forebay {

/// Checks that a batch has the dense features of the model's `shape`, and rows unless it
/// `may_be_empty`.
Status check_batch(const Batch& batch, const ModelShape& shape, bool may_be_empty = false);

/// A batch whose loss is not finite, with the values by which the row at fault is found.
struct BadLoss {
  const Batch& batch;
  double loss = 0;
  std::span<const float> logits = {};  ///< Of the batch's rows; empty if they are unknown.
  std::size_t first_row = 0;           ///< Index of the batch's first row in the global batch.
  /// Returns the lowest feature whose table has a vector for the row that is not finite;
  /// `table_rows.size()` of the shape if all are finite. Empty function: unknown.
  std::function<std::size_t(std::size_t row)> bad_vector = {};
};

/// Builds the error message: the batch, and the first row at fault, found by its values or, if
/// those are finite, by its vectors in the tables and its logit. Columns are named as in `shape`.
Error bad_loss(const BadLoss& what, const ModelShape& shape);

}  // namespace forebay
