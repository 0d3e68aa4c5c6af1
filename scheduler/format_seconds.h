#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace forebay::scheduler {

/// Formats a time as `0.3 s` or `12 s`, for messages.
inline std::string format_seconds(std::chrono::nanoseconds time) {
  const auto tenths = static_cast<std::uint64_t>(time / std::chrono::milliseconds(100));
  std::string text = std::to_string(tenths / 10);
  if (tenths < 100) text.append(1, '.').append(std::to_string(tenths % 10));
  return text + " s";
}

}  // namespace forebay::scheduler
