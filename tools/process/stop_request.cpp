#include "tools/process/stop_request.h"

#include <unistd.h>

#include <csignal>

namespace forebay {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): what a handler can reach.
std::atomic<int> requested_signal{0};
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> stop_flag{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void on_signal(int signal) {
  if (requested_signal.exchange(signal) != 0) ::_exit(128 + signal);
  stop_flag.store(true);
}

}  // namespace

void StopRequest::install() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  // A reader that went away is an error where it is written to, not an end without words.
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
}

int StopRequest::signal() { return requested_signal.load(); }

const std::atomic<bool>& StopRequest::flag() { return stop_flag; }

}  // namespace forebay
