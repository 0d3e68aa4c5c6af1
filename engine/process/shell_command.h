#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// A command line that /bin/sh runs as a child of this process, in a process group of its own, so
/// that Ctrl-C in a terminal does not reach the command.
///
/// The destructor waits kGrace for a command that still runs, then calls end(). What a finished
/// command left running stays. Move-only; belongs to one thread.
class ShellCommand {
 public:
  static constexpr std::chrono::milliseconds kGrace{3000};
  static constexpr std::chrono::milliseconds kTermination{1000};

  struct Ending {
    bool succeeded = false;
    std::string text;  ///< For messages: "ended with exit status 3".
  };

  /// The shell interprets `line` as written. kUnavailable: the system starts no process.
  static Result<ShellCommand> start(const std::string& line);

  ShellCommand(ShellCommand&& other) noexcept;
  ShellCommand& operator=(ShellCommand&& other) noexcept;
  ~ShellCommand();

  /// Returns at once: nullopt while the command runs.
  std::optional<Ending> ending();

  /// Waits for the end of the command, at most so long.
  std::optional<Ending> ending_within(std::chrono::milliseconds most);

  /// Ends the whole group of a command that still runs: SIGTERM, and SIGKILL kTermination later.
  void end();

 private:
  explicit ShellCommand(pid_t id) : id_(id) {}

  pid_t id_;  // -1: the command has ended, or another object owns it
  std::optional<Ending> ending_;
};

}  // namespace forebay
