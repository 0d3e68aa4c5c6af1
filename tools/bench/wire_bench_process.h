#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// The other process of a benchmark, connected to this one by pipes that carry lines.
///
/// Ends with this process, or when this object is destroyed; the destructor waits for it.
class WireBenchProcess {
 public:
  /// One side's ends of the pipes.
  class Lines {
   public:
    Lines(int in, int out) : in_(in), out_(out) {}
    /// Returns "" if the other side has closed.
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

  /// Sends SIGKILL.
  void kill() const;

 private:
  WireBenchProcess(pid_t pid, Lines lines) : pid_(pid), lines_(lines) {}

  pid_t pid_;
  Lines lines_;
};

}  // namespace forebay
