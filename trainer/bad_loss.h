#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/spec.h"

namespace forebay {

/// A batch whose loss is not finite, and what is known of it.
struct BadLoss {
  const Batch& batch;
  double loss = 0;
  std::span<const float> logits = {};  ///< Of its rows; none: they are not known.
  std::size_t first_row = 0;           ///< Which row of the whole batch its first is.
  /// Which of the vectors that tables have for a row are not finite: the lowest feature;
  /// `table_rows.size()` of the shape: none. Empty: it is not known.
  std::function<std::size_t(std::size_t row)> bad_vector = {};
};

/// What to say of it: which batch, and the first row at fault, from its values or, where those are
/// finite, from what tables have for it and from its logit. Columns are named as `shape` does.
Error bad_loss(const BadLoss& what, const ModelShape& shape);

}  // namespace forebay
