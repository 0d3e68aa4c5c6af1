#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// How well scores tell the rows of one class from those of the other.
struct Quality {
  std::uint64_t rows = 0;
  std::uint64_t positives = 0;
  /// The chance that a positive row scores above a negative one, ties counted half; nothing
  /// where one class has no rows.
  std::optional<double> auc;
  std::optional<double> log_loss;  ///< Mean, in nats; nothing without rows.
};

/// Gathers scores and labels batch by batch, then computes exact figures of them.
///
/// Keeps four bytes a row. Scores are logits.
class Evaluation {
 public:
  /// Refuses a score that is not a number, and a label other than 0 and 1.
  Status add(std::span<const float> scores, std::span<const float> labels);

  /// Sorts the scores in place: O(n log n), no further memory.
  Quality finish();

 private:
  std::vector<float> positives_;
  std::vector<float> negatives_;
  double loss_sum_ = 0;
};

/// The area under the ROC curve of sorted scores, ties by average rank (Mann and Whitney's U);
/// counted in integers, so exact to the last rounding. Nothing where one side is empty.
std::optional<double> auc_of_sorted(std::span<const float> positives,
                                    std::span<const float> negatives);

/// -log of the chance that a logit gives to `label`, without overflow.
double log_loss_of(double logit, bool label);

}  // namespace forebay
