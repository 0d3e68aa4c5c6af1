#pragma once

#include <chrono>
#include <string>

namespace forebay {

/// Formats a time for messages, rounded down: `0.3 s`, and from 10 s on `12 s`.
std::string format_seconds(std::chrono::nanoseconds time);

/// The same in whole seconds only: `0 s`, `12 s`.
std::string format_whole_seconds(std::chrono::nanoseconds time);

}  // namespace forebay
