#include "core/base/text/counted.h"

namespace forebay {

std::string format_count(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string format_counted(std::uint64_t number, std::string_view one, std::string_view many) {
  std::string text = format_count(number) + " ";
  if (number == 1) return text.append(one);
  return many.empty() ? text.append(one).append("s") : text.append(many);
}

}  // namespace forebay
