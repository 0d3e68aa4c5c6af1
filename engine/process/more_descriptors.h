#pragma once

#include <string>

namespace forebay {

/// Raises the limit of open descriptors of this process to the allowed maximum (`ulimit -Hn`), at
/// most 65,536. Call once, before threads start.
void raise_descriptor_limit();

/// Returns shell lines that run `command` with the limit that this process was started with:
/// programs that use select(2) need a low limit.
std::string with_first_descriptor_limit(const std::string& command);

}  // namespace forebay
