#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace forebay {

/// Text from outside (file names, column names, what a user function throws, a peer's words) as a
/// terminal or a line of a log may show it: control characters (C0, DEL, C1) and bytes that are
/// not UTF-8 become `\xNN`, so they neither move a cursor nor begin a line. Pure functions.

/// Cut after `most` characters, with `…` when it was cut. A backslash becomes `\x5c`, a tab `\t`.
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);

/// Every special byte, tabs and backslashes too, as `\xNN`: what a reader of a TSV can undo.
std::string printable_field(std::string_view text);

/// A message in one line: backslashes stay, a newline becomes `\n` and a tab `\t`. A message is
/// cut in the middle to `kMostMessageBytes`, since it names what is wrong first and what to do
/// last.
std::string printable_message(std::string_view text);
inline constexpr std::size_t kMostMessageBytes = 4096;

}  // namespace forebay
