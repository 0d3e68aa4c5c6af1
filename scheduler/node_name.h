#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace forebay::scheduler {

/// Whether `name` is valid for a node. A name appears on screens, in metrics and in file paths, so
/// it is one line of 1 to 128 bytes without `/` or control characters, and not `.` or `..`.
inline bool is_node_name(std::string_view name) {
  constexpr std::size_t kMostBytes = 128;
  if (name.empty() || name.size() > kMostBytes || name == "." || name == "..") return false;
  return std::none_of(name.begin(), name.end(),
                      [](unsigned char c) { return c < 32 || c == 127 || c == '/'; });
}

}  // namespace forebay::scheduler
