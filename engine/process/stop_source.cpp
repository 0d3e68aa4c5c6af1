#include "engine/process/stop_source.h"

#include <time.h>

namespace forebay {
namespace {

/// Clock for signal handlers, which may call only async-signal-safe functions.
std::int64_t now_ns() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

bool StopSource::ask(int signal) {
  int none = 0;
  if (!signal_.compare_exchange_strong(none, signal)) return false;
  asked_at_ns_.store(now_ns());
  flag_.store(true);
  return true;
}

std::chrono::nanoseconds StopSource::since() const {
  const std::int64_t asked_at = asked_at_ns_.load();
  return std::chrono::nanoseconds(asked_at == 0 ? 0 : now_ns() - asked_at);
}

}  // namespace forebay
