#pragma once

#include <string_view>

namespace forebay {

/// Writes `forebay: LINE` to stderr as one line: whatever comes from outside in it is made
/// printable (core/base/printable.h). Any thread.
void print_message(std::string_view line);

/// Writes `line` to stdout, made printable likewise.
void print_line(std::string_view line);

}  // namespace forebay
