#pragma once

#include <string>

#include "tools/command/command.h"

namespace forebay {

/// The folder of a running job: what `--dir` names (default: here), or the `.forebay` in it.
std::string run_folder(const Invocation& invocation);

}  // namespace forebay
