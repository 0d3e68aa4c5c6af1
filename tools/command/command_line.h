#pragma once

#include <string>
#include <vector>

#include "tools/command/commands.h"

namespace forebay {

/// Runs the command line after `forebay`; help and version go to stdout. Wrong usage returns exit
/// status 2 and suggests the nearest known name.
Exit run_command_line(const std::vector<std::string>& words);

/// Returns the page of `forebay help`, or of `forebay <command> --help`.
std::string help_page();
std::string help_page(const Command& command);

/// Returns a completion script for `bash`, `zsh` or `fish`; "" for other shells.
std::string completion_script(std::string_view shell);

/// Returns `forebay 0.1.0`, then one line for each library in use. Reads libtorch's version from
/// file names only, since loading it takes a second.
std::string version_page();

}  // namespace forebay
