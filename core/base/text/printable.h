#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace forebay {

/// Makes text from outside (file names, column names, messages of exceptions of user functions, a
/// peer's messages) safe for a terminal or a line of a log: control characters (C0, DEL, C1) and
/// bytes that are not UTF-8 become `\xNN`, so they neither move a cursor nor begin a line. Pure
/// functions.

/// Cuts after `most` characters and marks the cut with `…`. A backslash becomes `\x5c`, a tab `\t`.
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);

/// Writes every special byte, also tabs and backslashes, as `\xNN`, which a TSV reader can undo.
std::string printable_field(std::string_view text);

/// Writes a message in one line: backslashes stay, a newline becomes `\n` and a tab `\t`. Cuts a
/// long message to `kMostMessageBytes` in its middle, because a message says first what is wrong
/// and last what to do.
std::string printable_message(std::string_view text);
inline constexpr std::size_t kMostMessageBytes = 4096;

}  // namespace forebay
