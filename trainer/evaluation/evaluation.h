#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "trainer/spec.h"

namespace forebay {

/// Computes the area under the ROC curve in 16 MiB, for any number of rows.
///
/// Counts scores in 2^20 bins: those of the upper 20 bits of a float in its order (sign, exponent,
/// 11 bits of the mantissa), so a bin is as wide as 1/2048 of the power of two below its scores.
/// Two rows of one bin count as a tie. Hence the true area is within `error` of the returned one,
/// for any scores: half the pairs that share a bin, over all pairs; at most half the largest share
/// of either class in one bin. A value; the order of rows does not matter.
class StreamingAuc {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{16} << 20;

  StreamingAuc();

  /// `score` must be finite.
  void add(float score, bool positive);

  struct Area {
    double auc = 0;
    double error = 0;  ///< At most.
  };
  /// Empty if one class has no rows.
  std::optional<Area> area() const;

 private:
  struct Bin {
    std::uint64_t positives = 0;
    std::uint64_t negatives = 0;
  };
  std::vector<Bin> bins_;
};

/// How well scores separate the rows of the two classes.
struct Quality {
  std::uint64_t rows = 0;
  std::uint64_t positives = 0;
  /// The probability that a positive row scores above a negative one, ties counted half; empty if
  /// one class has no rows.
  std::optional<double> auc = {};
  double auc_error = 0;                 ///< Bound of the error of `auc`; 0: it is exact.
  std::optional<double> log_loss = {};  ///< Mean, in nats; empty without rows.
  /// Log loss over the entropy of the share of positives (He et al. 2014): 1 is the value of a
  /// model that knows only this share. Empty if one class has no rows.
  std::optional<double> normalized_entropy = {};
  /// Mean predicted probability over the share of positives: 1 is right on average. Empty without
  /// positives.
  std::optional<double> calibration = {};

  bool operator==(const Quality&) const = default;
};

/// Collects scores and labels batch by batch, then computes figures from them.
///
/// In exact mode it keeps four bytes per row; in streaming mode a histogram
/// (trainer/evaluation/evaluation.h); `auto` is exact for up to kMostExactRows rows and switches to
/// the histogram with the next row. Scores are logits.
class Evaluation {
 public:
  using Auc = TrainerSpec::Auc;
  static constexpr std::uint64_t kMostExactRows = std::uint64_t{1} << 20;

  explicit Evaluation(Auc kind = Auc::kExact) : kind_(kind) {
    if (kind == Auc::kStreaming) streamed_.emplace();
  }

  /// The most bytes that it takes for so many rows.
  static std::uint64_t bytes(Auc kind, std::uint64_t rows);

  /// Returns an error that names the row for a score that is not finite, or a label other than 0
  /// and 1.
  Status add(std::span<const float> scores, std::span<const float> labels);

  /// Sorts the scores in place: O(n log n), no further memory.
  Quality finish();

 private:
  void keep(float score, bool positive);
  void stream();

  const Auc kind_;
  std::vector<float> positives_;  // In exact mode; empty once it streams.
  std::vector<float> negatives_;
  std::optional<StreamingAuc> streamed_;  // Absent in exact mode.
  std::uint64_t rows_ = 0;
  std::uint64_t clicks_ = 0;
  double loss_sum_ = 0;
  double chance_sum_ = 0;
};

/// The area under the ROC curve of sorted scores, ties by average rank (Mann and Whitney's U);
/// counted in integers, so exact to the last rounding. Empty if one class has no rows.
std::optional<double> auc_of_sorted(std::span<const float> positives,
                                    std::span<const float> negatives);

/// -log of the probability that a logit gives to `label`, without overflow.
double log_loss_of(double logit, bool label);

/// The entropy of a binary event of probability `chance`, in nats.
double entropy_of(double chance);

/// The result of one evaluation.
struct Evaluated {
  std::uint64_t step = 0;  ///< Steps trained since the job's start.
  Quality quality;
  std::uint64_t bad_rows = 0;  ///< Damaged rows of the evaluation files, left out of `quality`.

  bool operator==(const Evaluated&) const = default;
};

/// The summary of a run's evaluations: the best one, and whether to stop early.
struct EvaluationState {
  std::optional<std::uint64_t> best_step = {};  ///< The first of equals; empty without evaluations.
  std::uint64_t without_gain = 0;               ///< Evaluations since the best one.
  bool enough = false;                          ///< No gain for `early_stopping` evaluations.
};

/// Judges evaluations by `spec.early_stopping_metric`. An evaluation without that figure is no
/// gain, except for the AUC of rows of one class, which is ignored because it says nothing about
/// the model. A pure function of all evaluations since the job's start, so a resumed run ends at
/// the same step.
EvaluationState judge(const TrainerSpec& spec, std::span<const Evaluated> evaluations);

/// One JSON object for a checkpoint; "" if there are no evaluations. Parsing restores figures to
/// the last bit.
std::string to_json(std::span<const Evaluated> evaluations);
/// Returns nothing if `text` is not the output of `to_json`.
std::optional<std::vector<Evaluated>> parse_evaluations(const std::string& text);

}  // namespace forebay
