#pragma once

#include <cstddef>
#include <string>

namespace forebay {

/// Returns how errors name the operator at `index`: "[[transform]] number 3" for 2. They say that
/// they count the tables, from 1, since the key `transform.N` counts from 0.
inline std::string operator_table(std::size_t index) {
  return "[[transform]] number " + std::to_string(index + 1);
}

}  // namespace forebay
