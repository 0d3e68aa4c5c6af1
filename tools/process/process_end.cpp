#include "tools/process/process_end.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <limits>

#include <time.h>

#include "tools/process/standard_streams.h"

namespace forebay {
namespace {

constexpr std::int64_t kNoSignal = std::numeric_limits<std::int64_t>::max();

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): what a handler can reach.
constinit StopSource stop;
/// Time of the first signal to this process itself.
constinit std::atomic<std::int64_t> first_at_ms{kNoSignal};
constinit std::atomic<bool> nothing_to_save{false};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// timeout(1) and launchers signal a process and then its group: several signals within this time
/// are one request.
constexpr std::int64_t kOneRequestMs = 50;
/// A closing terminal sends two SIGHUPs: one by its shell, one by the kernel when that shell ends.
constexpr std::int64_t kOneHangUpMs = 500;

std::int64_t now_ms() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

bool repeats_the_first(int signal) {
  const bool hang_up = signal == SIGHUP && stop.signal() == SIGHUP;
  return now_ms() - first_at_ms.load() <= (hang_up ? kOneHangUpMs : kOneRequestMs);
}

void on_signal(int signal) {
  if (nothing_to_save.load()) end_process(128 + signal);
  if (stop.ask(signal) || first_at_ms.load() == kNoSignal) {
    first_at_ms.store(now_ms());
  } else if (!repeats_the_first(signal)) {
    end_process(128 + signal);
  }
}

}  // namespace

void end_process(int status) {
  while (true) ::syscall(SYS_exit_group, status);
}

Exit with_output_flushed(Exit exit) {
  if (flush_stdout() || exit.status != Exit::kDone) return exit;
  return {Exit::kFailed, "stdout: the result could not be written there"};
}

void leave(const Exit& end) {
  const Exit exit = with_output_flushed(end);
  if (!exit.message.empty()) print_message(exit.message);
  std::fflush(nullptr);
  end_process(exit.status);
}

void StopRequest::install() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  struct sigaction before = {};
  ::sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);
  // A closed pipe or a file over its size limit is reported as an error of the write; it must not
  // end the process silently.
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
  ::sigaction(SIGXFSZ, &action, nullptr);
}

StopRequest::AtOnce::AtOnce() {
  nothing_to_save.store(true);
  if (requested()) end_process(128 + signal());
}

StopRequest::AtOnce::~AtOnce() { nothing_to_save.store(false); }

StopSource& StopRequest::source() { return stop; }

}  // namespace forebay
