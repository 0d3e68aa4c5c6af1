#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// Largest configuration file. Real ones are far smaller; a data file given by mistake is far
/// larger.
inline constexpr std::size_t kMostTextBytes = 4U << 20;

/// Reads a whole file. kNotFound or kInvalid begins with `kind` ("job file") and the path, and says
/// why: it does not exist, is a folder, is not a regular file, or is larger than kMostTextBytes.
Result<std::string> read_text_file(std::string_view kind, const std::string& path);

/// Returns whether the value given as an address is the path of a file that holds the address: it
/// has a slash and no scheme. "./address" is a path, "tcp://H:P" is not.
bool names_a_file(const std::string& address);

}  // namespace forebay
