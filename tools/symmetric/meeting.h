#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// How the processes of one job find their head.
struct MeetingPoint {
  /// Written by the trainer; visible to processes that share its file system.
  std::string address_file;
  std::string first_host;  ///< Rank 0's host.
  /// The port that rank 0 listens on if it is free, for processes without shared files.
  std::uint16_t port = 0;
  /// Time in which only the file is read.
  std::chrono::nanoseconds alone = std::chrono::seconds(10);
  std::chrono::nanoseconds patience = std::chrono::minutes(10);
};

/// Returns the address to join from the one that the trainer wrote: an address that means every
/// interface is reached at `first_host`. "" if `written` is not an address.
std::string joinable(const std::string& written, const std::string& first_host);

/// Waits until the head listens and returns its address. The address in an old file is used only
/// after a successful connection. "": `ended` returned true. kTimeout after `patience`.
Result<std::string> await_head(const MeetingPoint& point,
                               const std::function<bool(std::chrono::nanoseconds waited)>& ended);

}  // namespace forebay
