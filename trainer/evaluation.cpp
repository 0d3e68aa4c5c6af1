#include "trainer/evaluation.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/check.h"

namespace forebay {

double log_loss_of(double logit, bool label) {
  const double margin = label ? logit : -logit;
  return std::max(-margin, 0.0) + std::log1p(std::exp(-std::abs(margin)));
}

std::optional<double> auc_of_sorted(std::span<const float> positives,
                                    std::span<const float> negatives) {
  if (positives.empty() || negatives.empty()) return std::nullopt;
  // Twice the number of (positive, negative) pairs in the right order, a tie counting one.
  std::uint64_t wins = 0;
  std::size_t below = 0;
  std::size_t not_above = 0;
  for (float score : positives) {
    while (below < negatives.size() && negatives[below] < score) ++below;
    while (not_above < negatives.size() && negatives[not_above] <= score) ++not_above;
    wins += below + not_above;
  }
  return static_cast<double>(wins) / 2 / static_cast<double>(positives.size()) /
         static_cast<double>(negatives.size());
}

Status Evaluation::add(std::span<const float> scores, std::span<const float> labels) {
  FOREBAY_CHECK(scores.size() == labels.size());
  for (std::size_t row = 0; row < scores.size(); ++row) {
    if (std::isnan(scores[row])) {
      return fail(Code::kCorrupt,
                  "evaluation: a row's score is not a number; look for nan or inf in the dense "
                  "columns of the evaluation data, or lower trainer.learning_rate");
    }
    if (labels[row] != 0 && labels[row] != 1) {
      return fail(Code::kCorrupt,
                  "evaluation: a label is " + std::to_string(labels[row]) + " and must be 0 or 1");
    }
    const bool positive = labels[row] == 1;
    (positive ? positives_ : negatives_).push_back(scores[row]);
    loss_sum_ += log_loss_of(scores[row], positive);
  }
  return {};
}

Quality Evaluation::finish() {
  std::sort(positives_.begin(), positives_.end());
  std::sort(negatives_.begin(), negatives_.end());
  Quality quality;
  quality.rows = positives_.size() + negatives_.size();
  quality.positives = positives_.size();
  quality.auc = auc_of_sorted(positives_, negatives_);
  if (quality.rows > 0) quality.log_loss = loss_sum_ / static_cast<double>(quality.rows);
  return quality;
}

}  // namespace forebay
