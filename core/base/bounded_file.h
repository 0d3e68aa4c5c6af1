#pragma once

#include <cstddef>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// Reads a whole regular file of at most `most` bytes; never blocks on a FIFO or a device. Errors:
/// kNotFound when the file does not exist, kInvalid when it is not a regular file, kCorrupt when it
/// is larger than `most`, kUnavailable when the system cannot open or read it. Each message begins
/// with `path`.
Result<std::string> read_bounded_file(const std::string& path, std::size_t most);

}  // namespace forebay
