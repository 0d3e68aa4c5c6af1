#pragma once

#include <cstddef>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// Reads a regular file of at most `most` bytes as a whole, and never waits for a FIFO or a device.
/// kNotFound where there is none, kInvalid for what is not a regular file, kCorrupt for a larger
/// one, kUnavailable for one that the system does not give; the message begins with `path`.
Result<std::string> read_bounded_file(const std::string& path, std::size_t most);

}  // namespace forebay
