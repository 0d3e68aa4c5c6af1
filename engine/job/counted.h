#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/job/quantity.h"

namespace forebay {

/// Returns `1 file`, `1,200 files`; `many` is the plural where an s does not make it.
inline std::string format_counted(std::uint64_t number, std::string_view one,
                                  std::string_view many = {}) {
  std::string text = format_count(number) + " ";
  if (number == 1) return text.append(one);
  return many.empty() ? text.append(one).append("s") : text.append(many);
}

}  // namespace forebay
