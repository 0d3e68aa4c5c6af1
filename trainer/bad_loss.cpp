#include "trainer/bad_loss.h"

#include <cmath>
#include <string>

namespace forebay {
namespace {

std::string words_of(double number) {
  if (std::isnan(number)) return "not a number";
  return number < 0 ? "minus infinity" : "infinite";
}

/// The row's first value that is not finite, in words; "": all are.
std::string fault_in(const Batch& batch, std::size_t row) {
  if (!std::isfinite(batch.labels[row])) return "its label is " + words_of(batch.labels[row]);
  for (std::size_t feature = 0; feature < batch.dense_features; ++feature) {
    const float value = batch.dense[row * batch.dense_features + feature];
    if (std::isfinite(value)) continue;
    return "its dense value " + std::to_string(feature) + " is " + words_of(value);
  }
  return "";
}

/// ", first of its row 7: …"; "": no row is known to be at fault.
std::string row_at_fault(const Batch& batch, std::span<const float> logits, std::size_t first_row) {
  for (std::size_t row = 0; row < batch.rows; ++row) {
    const std::string fault = fault_in(batch, row);
    if (fault.empty()) continue;
    return ", first that of its row " + std::to_string(first_row + row) + ": " + fault;
  }
  for (std::size_t row = 0; row < logits.size(); ++row) {
    if (std::isfinite(logits[row])) continue;
    return ", first that of its row " + std::to_string(first_row + row) + ": its score is " +
           words_of(logits[row]);
  }
  return "";
}

}  // namespace

Error bad_loss(const Batch& batch, double loss, std::span<const float> logits,
               std::size_t first_row) {
  return {Code::kCorrupt,
          "the loss of batch " + std::to_string(batch.number) + " is " + words_of(loss) +
              row_at_fault(batch, logits, first_row) +
              "; lower trainer.learning_rate, or look for nan, inf and huge values in the "
              "dense columns (log1p and clamp tame them)"};
}

}  // namespace forebay
