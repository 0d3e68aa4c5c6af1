#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "trainer/spec.h"
#include "trainer/streaming_auc.h"

namespace forebay {

/// How well scores tell the rows of one class from those of the other.
struct Quality {
  std::uint64_t rows = 0;
  std::uint64_t positives = 0;
  /// The chance that a positive row scores above a negative one, ties counted half; nothing
  /// where one class has no rows.
  std::optional<double> auc = {};
  double auc_error = 0;                 ///< `auc` is so near the exact value; 0: it is exact.
  std::optional<double> log_loss = {};  ///< Mean, in nats; nothing without rows.
  /// Log loss over the entropy of the share of positives (He et al. 2014): 1 is what a model
  /// reaches that knows this share alone. Nothing where one class has no rows.
  std::optional<double> normalized_entropy = {};
  /// Mean predicted chance over the share of positives: 1 is right on average. Nothing without
  /// positives.
  std::optional<double> calibration = {};

  bool operator==(const Quality&) const = default;
};

/// Gathers scores and labels batch by batch, then computes figures of them.
///
/// Exact, it keeps four bytes a row; streaming, a histogram (trainer/streaming_auc.h); `auto` is
/// exact for up to kMostExactRows rows and turns to the histogram with the next. Scores are logits.
class Evaluation {
 public:
  using Auc = TrainerSpec::Auc;
  static constexpr std::uint64_t kMostExactRows = std::uint64_t{1} << 20;

  explicit Evaluation(Auc kind = Auc::kExact);

  /// Bytes that it takes at most for so many rows.
  static std::uint64_t bytes(Auc kind, std::uint64_t rows);

  /// Refuses a score that is not finite, and a label other than 0 and 1; names the row.
  Status add(std::span<const float> scores, std::span<const float> labels);

  /// Sorts the scores in place: O(n log n), no further memory.
  Quality finish();

 private:
  void keep(float score, bool positive);
  void stream();

  const Auc kind_;
  std::vector<float> positives_;  // Of the exact way; empty once it streams.
  std::vector<float> negatives_;
  std::optional<StreamingAuc> streamed_;  // Absent while it is exact.
  std::uint64_t rows_ = 0;
  std::uint64_t clicks_ = 0;
  double loss_sum_ = 0;
  double chance_sum_ = 0;
};

/// The area under the ROC curve of sorted scores, ties by average rank (Mann and Whitney's U);
/// counted in integers, so exact to the last rounding. Nothing where one side is empty.
std::optional<double> auc_of_sorted(std::span<const float> positives,
                                    std::span<const float> negatives);

/// -log of the chance that a logit gives to `label`, without overflow.
double log_loss_of(double logit, bool label);

/// The entropy of a yes that comes with this chance, in nats.
double entropy_of(double chance);

}  // namespace forebay
