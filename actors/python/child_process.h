#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

/// A program that runs as a child of this process, started without fork (posix_spawn).
///
/// It has this process's environment, with one thread for each numeric library unless the
/// environment says otherwise, and three files beside its streams: 3, the channel to this process;
/// 4, the memory that both map; 5, this process's stderr. Its stdin is empty. Its stdout and stderr
/// go to a file of its own until it puts 5 in their place; said() returns that file's text. Signals
/// that stop a terminal's or a batch system's jobs are blocked: the child ends when its channel
/// closes, and by its own request (PR_SET_PDEATHSIG) with the thread that started it.
///
/// The destructor closes the channel, waits kGrace for the child to end, and kills it otherwise.
/// Move-only; belongs to one thread.
class ChildProcess {
 public:
  static constexpr std::chrono::milliseconds kGrace{500};

  /// kNotFound: there is no such program; kUnavailable: the system starts no process.
  static Result<ChildProcess> start(const std::string& program,
                                    const std::vector<std::string>& arguments, int shared_memory);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  /// This process's end of the channel, a stream socket.
  int channel() const { return channel_.number(); }
  pid_t id() const { return id_; }

  /// What it has written before it took over stderr: the last line, for messages.
  std::string said() const;

  /// Kills the child and waits for its end.
  void kill();

  /// Waits for the child's end, or kills it after kGrace, and says how it ended: "was killed by
  /// signal 9 (Killed)".
  std::string ending();
  /// Whether ending() found that a signal ended it.
  bool was_killed() const;

 private:
  ChildProcess() = default;
  bool wait(std::chrono::milliseconds most);

  Descriptor channel_;
  Descriptor output_;
  pid_t id_ = -1;
  int status_ = 0;
  bool ended_ = false;
  bool known_ = false;  // status_ is known: nobody else has waited for the child
};

/// Bytes of another process that are resident now; 0 if it has ended.
std::uint64_t resident_bytes_of(pid_t process);

/// Gives all threads of another process the CPUs of the calling thread.
void share_affinity_with(pid_t process);

}  // namespace forebay
