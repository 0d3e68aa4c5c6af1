#pragma once

#include <string>

#include "core/base/result.h"

namespace forebay {

/// Whether a file can be put at `path`, written aside and renamed: asked before the work whose
/// result goes there. kInvalid, naming `option` (as in `--out`), where there is no folder to write
/// into, or where something stands that is no regular file: a rename would replace a device.
Status check_output_path(const std::string& option, const std::string& path);

}  // namespace forebay
