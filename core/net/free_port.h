#pragma once

#include <cstdint>

#include "core/base/result.h"

namespace forebay {

/// A port of the loopback that nobody has now, for processes that are yet to be started. Another
/// program may take it before they do.
Result<std::uint16_t> free_port();

}  // namespace forebay
