#pragma once

#include <string_view>

namespace forebay {

/// Writes `forebay: LINE` to stderr as one line; unprintable characters in it are escaped
/// (core/base/printable.h). Any thread.
void print_message(std::string_view line);

/// Writes `line` to stdout, escaped in the same way.
void print_line(std::string_view line);

}  // namespace forebay
