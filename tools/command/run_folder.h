#pragma once

#include <string>

#include "tools/command/command.h"

namespace forebay {

/// Returns the folder of a running job: the value of `--dir` (default: the current folder), or the
/// `.forebay` in it.
std::string run_folder(const Invocation& invocation);

}  // namespace forebay
