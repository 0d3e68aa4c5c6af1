#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace forebay {

/// How often one end wants to hear of the other, as messages carry it: in ns; 0: not told.
inline std::uint64_t in_nanoseconds(std::chrono::nanoseconds heartbeat) {
  return static_cast<std::uint64_t>(heartbeat.count());
}

/// How often to beat for a peer that told this, `own` being the pace so far: whoever misses the
/// other sooner sets it, within reason.
inline std::chrono::nanoseconds faster_pace(std::chrono::nanoseconds own, std::uint64_t told) {
  constexpr std::chrono::nanoseconds kShortest = std::chrono::milliseconds(5);
  if (told == 0) return own;
  const auto wanted = static_cast<std::int64_t>(std::min(told, in_nanoseconds(own)));
  return std::min(own, std::max(std::chrono::nanoseconds(wanted), kShortest));
}

}  // namespace forebay
