#pragma once

#include <string>

namespace forebay {

/// Returns the function that completes commands in bash, and its registration. zsh runs it by
/// `bashcompinit`.
std::string bash_script();

/// Returns the lines that complete commands in fish.
std::string fish_script();

}  // namespace forebay
