#pragma once

#include <string>

#include "core/base/result.h"

namespace forebay {

/// Returns the absolute path of the running program, for use in scripts. kUnavailable without
/// /proc.
Result<std::string> own_path();

/// Checks that a file can be written aside and renamed to `path`; call it before the work that
/// produces the file. kInvalid names `option` (for example `--out`) if the folder cannot be written
/// to, or if `path` exists and is not a regular file: a rename would replace a device.
Status check_output_path(const std::string& option, const std::string& path);

}  // namespace forebay
