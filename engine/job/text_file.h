#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// What a configuration file holds: given ones are far below this, a data file handed in by mistake
/// is far above.
inline constexpr std::size_t kMostTextBytes = 4U << 20;

/// Reads a whole file. kNotFound or kInvalid begin with `kind` ("job file"), the path and why: not
/// there, a folder, not a regular file, larger than kMostTextBytes.
Result<std::string> read_text_file(std::string_view kind, const std::string& path);

/// Whether what was given for an address is the path of a file that holds one: it has a slash and
/// no scheme, so "./address" is one and "tcp://H:P" is not.
bool names_a_file(const std::string& address);

}  // namespace forebay
