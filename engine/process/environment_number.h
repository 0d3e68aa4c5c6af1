#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// The whole number `text` that a launcher put into the variable `name`: digits alone, within
/// `least` to `most`. Blanks, signs, nothing at all and what is out of the range are kInvalid, with
/// the variable, its value and the range. The only reader of numbers from the environment.
Result<std::uint64_t> environment_number(const std::string& name, std::string_view text,
                                         std::uint64_t least, std::uint64_t most);

}  // namespace forebay
