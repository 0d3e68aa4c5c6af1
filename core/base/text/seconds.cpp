#include "core/base/text/seconds.h"

#include <cstdint>

namespace forebay {

std::string format_seconds(std::chrono::nanoseconds time) {
  const auto tenths = static_cast<std::uint64_t>(time / std::chrono::milliseconds(100));
  if (tenths >= 100) return format_whole_seconds(time);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string format_whole_seconds(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

}  // namespace forebay
