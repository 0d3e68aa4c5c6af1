#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace forebay {

/// A heartbeat interval as messages carry it, in ns; in a message, 0 means that none was given.
inline std::uint64_t in_nanoseconds(std::chrono::nanoseconds heartbeat) {
  return static_cast<std::uint64_t>(heartbeat.count());
}

/// The interval at which to send heartbeats to a peer that asked for one every `told` ns. `own` is
/// the interval so far. The shorter of the two wins, but is not shortened below 5 ms.
inline std::chrono::nanoseconds faster_pace(std::chrono::nanoseconds own, std::uint64_t told) {
  constexpr std::chrono::nanoseconds kShortest = std::chrono::milliseconds(5);
  if (told == 0) return own;
  const auto wanted = static_cast<std::int64_t>(std::min(told, in_nanoseconds(own)));
  return std::min(own, std::max(std::chrono::nanoseconds(wanted), kShortest));
}

}  // namespace forebay
