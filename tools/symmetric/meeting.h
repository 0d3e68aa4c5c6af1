#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// Where the processes of one job find their head.
struct MeetingPoint {
  std::string address_file;  ///< Written by the trainer; seen by those who share its file system.
  std::string first_host;    ///< Rank 0's.
  std::uint16_t port = 0;    ///< Where rank 0 listens when it can, for those who share no files.
  std::chrono::nanoseconds alone = std::chrono::seconds(10);  ///< Until then only the file counts.
  std::chrono::nanoseconds patience = std::chrono::minutes(10);
};

/// The address to join, from what the trainer wrote: one that listens everywhere is reached at
/// `first_host`. Empty for what is no address.
std::string joinable(const std::string& written, const std::string& first_host);

/// Waits until the head listens and gives its address. An old file's address counts only once
/// somebody answers there. kTimeout after `patience`; kUnavailable when `stop` says so.
Result<std::string> await_head(const MeetingPoint& point, const std::function<bool()>& stop);

/// Can this port be listened at, on every address of this host?
bool is_free(std::uint16_t port);

}  // namespace forebay
