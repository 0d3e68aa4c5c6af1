#pragma once

#include <optional>
#include <string_view>

namespace forebay {

/// Returns the label that a text field gives by label_of(), read as the nearest double; none if it
/// damages the row. Without a threshold the text is 0, 1, 0.0 or 1.0.
std::optional<float> label_in(std::string_view text, const std::optional<double>& threshold);

}  // namespace forebay
