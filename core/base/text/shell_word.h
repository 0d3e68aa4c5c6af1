#pragma once

#include <string>
#include <string_view>

namespace forebay {

/// Returns `word` as one word of a POSIX shell.
std::string shell_word(std::string_view word);

}  // namespace forebay
