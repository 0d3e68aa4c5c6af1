#pragma once

#include <string>

#include "core/base/result.h"

namespace forebay {

/// Returns the absolute path of the running program, for use in scripts. kUnavailable without
/// /proc.
Result<std::string> own_path();

}  // namespace forebay
