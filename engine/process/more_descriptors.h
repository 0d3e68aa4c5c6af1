#pragma once

#include <string>

namespace forebay {

/// Raises how many descriptors this process may have open to what it is allowed (`ulimit -Hn`), at
/// most 65,536. Call once, before threads start.
void raise_descriptor_limit();

/// Lines for a shell that runs `command` with the limit that this process was started with:
/// programs that wait with select(2) count on a low one.
std::string with_first_descriptor_limit(const std::string& command);

}  // namespace forebay
