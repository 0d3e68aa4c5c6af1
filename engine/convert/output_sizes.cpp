#include "engine/convert/output_sizes.h"

#include "core/base/text/number.h"

namespace forebay {

std::string to_text(const OutputSizes& sizes) {
  std::string text;
  for (std::size_t input = 0; input < sizes.size(); ++input) {
    if (input > 0) text += ' ';
    for (std::size_t i = 0; i < sizes[input].size(); ++i) {
      text += (i > 0 ? "," : "") + std::to_string(sizes[input][i]);
    }
  }
  return text;
}

std::optional<OutputSizes> parse_output_sizes(std::string_view text) {
  OutputSizes sizes;
  if (text.empty()) return sizes;
  sizes.emplace_back();
  while (const auto size = take_number(text)) {
    sizes.back().push_back(*size);
    if (text.empty()) return sizes;
    if (text.front() == ' ') {
      sizes.emplace_back();
    } else if (text.front() != ',') {
      break;
    }
    text.remove_prefix(1);
  }
  return std::nullopt;
}

}  // namespace forebay
