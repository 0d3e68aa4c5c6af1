#pragma once

#include <string>
#include <vector>

#include "tools/command/command.h"

namespace forebay {

/// Runs what the user wrote behind `forebay`; help and version go to stdout. Wrong usage is exit 2
/// with the nearest known name.
Exit run_command_line(const std::vector<std::string>& words);

/// The page of `forebay help`, and of `forebay <command> --help`.
std::string help_page();
std::string help_page(const Command& command);

/// A completion script for `bash`, `zsh` or `fish`; empty for another shell.
std::string completion_script(std::string_view shell);

/// `forebay 0.1.0`, then a line per library in use. Looks at file names only for libtorch: loading
/// it takes a second.
std::string version_page();

}  // namespace forebay
