#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace forebay {

/// Returns `1,234,567`.
std::string format_count(std::uint64_t count);

/// Returns `1 file`, `1,200 files`; `many` is the plural where an s does not make it. Both may go
/// on with a verb: `1 file has`, `1,200 files have`.
std::string format_counted(std::uint64_t number, std::string_view one, std::string_view many = {});

}  // namespace forebay
