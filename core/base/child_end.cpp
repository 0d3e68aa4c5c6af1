#include "core/base/child_end.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/descriptor.h"

namespace forebay {

ChildEnd wait_for_child(pid_t child, std::chrono::milliseconds most) {
  constexpr int kNoFlags = 0;
  const Descriptor end(static_cast<int>(::syscall(SYS_pidfd_open, child, kNoFlags)));
  pollfd look{.fd = end.number(), .events = POLLIN, .revents = 0};
  if (end) {
    while (::poll(&look, 1, static_cast<int>(most.count())) < 0 && errno == EINTR) {
    }
  }
  int status = 0;
  pid_t found = 0;
  while ((found = ::waitpid(child, &status, WNOHANG)) < 0 && errno == EINTR) {
  }
  if (found == child) return {.ended = true, .status = status};
  return {.ended = found < 0 && errno == ECHILD};
}

}  // namespace forebay
