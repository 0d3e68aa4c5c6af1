#pragma once

#include <string>

#include "core/base/result.h"

namespace forebay {

/// The absolute path of the program that runs, as scripts call it. kUnavailable without /proc.
Result<std::string> own_path();

}  // namespace forebay
