#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// The other process of a benchmark, and the lines it and this one say to each other.
///
/// Ends with this process, or when it dies, which waits for it.
class WireBenchProcess {
 public:
  /// One end of the conversation.
  class Lines {
   public:
    Lines(int in, int out) : in_(in), out_(out) {}
    /// Empty when the other end is gone.
    std::string read() const;
    void write(const std::string& line) const;
    void close() const;

   private:
    int in_;
    int out_;
  };

  /// Forks; the child runs `body` and ends.
  static Result<WireBenchProcess> start(const std::function<void(const Lines&)>& body);
  ~WireBenchProcess();
  WireBenchProcess(WireBenchProcess&& other) noexcept;
  WireBenchProcess& operator=(WireBenchProcess&&) = delete;

  const Lines& lines() const { return lines_; }

  /// SIGKILL.
  void kill() const;

 private:
  WireBenchProcess(pid_t pid, Lines lines) : pid_(pid), lines_(lines) {}

  pid_t pid_;
  Lines lines_;
};

}  // namespace forebay
