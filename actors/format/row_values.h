#pragma once

#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>

namespace forebay {

/// Returns the label of a row whose label column holds `value`; none if the row is damaged. With a
/// threshold (`columns.label_threshold`): whether a finite value reaches it; else 0 or 1 alone.
inline std::optional<float> label_of(double value, const std::optional<double>& threshold) {
  if (threshold) {
    if (!std::isfinite(value)) return std::nullopt;
    return value >= *threshold ? 1.0F : 0.0F;
  }
  if (value != 0 && value != 1) return std::nullopt;
  return value == 1 ? 1.0F : 0.0F;  // -0, too
}

/// Whether a row may have this weight; any other value, and none at all, damages the row.
inline bool is_weight(float value) { return std::isfinite(value) && value >= 0; }

/// Returns a label or weight as BadRow::reason shows it.
inline std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

/// What is wrong with such a label or weight, for BadRow::reason.
inline const char* label_complaint(const std::optional<double>& threshold) {
  return threshold ? " is not a finite number" : " is not 0 or 1";
}
inline constexpr const char* kWeightComplaint = " is not a weight (finite and at least 0)";

}  // namespace forebay
