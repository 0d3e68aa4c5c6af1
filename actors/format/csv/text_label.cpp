#include "actors/format/csv/text_label.h"

#include "actors/format/csv/decimal.h"
#include "actors/format/row_values.h"

namespace forebay {

std::optional<float> label_in(std::string_view text, const std::optional<double>& threshold) {
  if (!threshold) {
    if (text == "1" || text == "1.0") return 1.0F;
    return text == "0" || text == "0.0" ? std::optional(0.0F) : std::nullopt;
  }
  double value = 0;
  return read_decimal(text, value) ? label_of(value, threshold) : std::nullopt;
}

}  // namespace forebay
