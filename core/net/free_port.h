#pragma once

#include <cstdint>

#include "core/base/result.h"

namespace forebay {

/// Finds a port that is free on the loopback interface now, for a process started later. Another
/// program may take the port first.
Result<std::uint16_t> free_port();

}  // namespace forebay
