#pragma once

#include <chrono>
#include <ctime>

namespace forebay {

/// Returns the CPU time that the calling thread has used; waiting for a CPU does not count.
inline std::chrono::nanoseconds thread_cpu_time() {
  timespec used = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace forebay
