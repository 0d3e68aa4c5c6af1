#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// Reads the whole number `text` that a launcher stored in the variable `name`: digits only, from
/// `least` to `most`. Blanks, signs, an empty text and values out of range are kInvalid, with the
/// variable, its value and the range. All numbers of the environment are read by this function.
Result<std::uint64_t> environment_number(const std::string& name, std::string_view text,
                                         std::uint64_t least, std::uint64_t most);

}  // namespace forebay
