#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>

namespace forebay {

/// How a child process stands.
struct ChildEnd {
  bool ended = false;
  /// As wait(2) gives it; nullopt: another part of the program has waited for all children.
  std::optional<int> status = std::nullopt;
};

/// Waits for the end of a child process, at most so long; 0: returns at once. A child that has
/// ended is gone afterwards: do not wait for it again. Where the system lacks pidfd_open (before
/// Linux 5.3) it returns at once.
ChildEnd wait_for_child(pid_t child, std::chrono::milliseconds most);

}  // namespace forebay
