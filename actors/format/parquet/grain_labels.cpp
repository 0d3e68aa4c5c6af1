#include "actors/format/parquet/grain_labels.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "actors/format/raw_split.h"
#include "actors/format/row_values.h"
#include "core/data/column_set.h"

namespace forebay::parquet {
namespace {

std::string value_text(double value) {
  const bool is_null =
      std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(missing_double());
  return is_null ? "null" : number_text(value);
}

}  // namespace

double missing_double() { return static_cast<double>(missing_value()); }

bool GrainLabels::write(std::size_t row, const Place& to) const {
  const auto label = label_of(labels_.data()[row], wanted_.label_threshold);
  *to.label = label.value_or(0.0F);
  if (to.weight == nullptr) return label.has_value();
  const auto weight = static_cast<float>(weights_.data()[row]);
  *to.weight = weight;
  return label && is_weight(weight);
}

bool GrainLabels::write_all(std::size_t rows, const Place& to) const {
  bool sound = true;
  if (to.weight != nullptr) {
    for (std::size_t row = 0; row < rows; ++row)
      sound &= write(row, {.label = to.label + row, .weight = to.weight + row});
    return sound;
  }
  // Loops that the compiler vectorises, for the usual labels.
  const double* const from = labels_.data();
  if (wanted_.label_threshold) {
    constexpr double kLargest = std::numeric_limits<double>::max();
    const double threshold = *wanted_.label_threshold;
    for (std::size_t row = 0; row < rows; ++row) {
      to.label[row] = from[row] >= threshold ? 1.0F : 0.0F;
      sound &= std::abs(from[row]) <= kLargest;
    }
    return sound;
  }
  for (std::size_t row = 0; row < rows; ++row) {
    to.label[row] = from[row] == 1 ? 1.0F : 0.0F;  // -0, too
    sound &= (from[row] == 0) | (from[row] == 1);
  }
  return sound;
}

std::string GrainLabels::damage_of(std::size_t row) const {
  if (!label_of(labels_.data()[row], wanted_.label_threshold)) {
    return "label: " + value_text(labels_.data()[row]) + label_complaint(wanted_.label_threshold);
  }
  return "column " + quoted_text(wanted_.leaves[*wanted_.weight].name) + ": " +
         value_text(weights_.data()[row]) + kWeightComplaint;
}

}  // namespace forebay::parquet
