#include "engine/process/more_descriptors.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>

namespace forebay {
namespace {

constexpr rlim_t kMost = 65'536;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): the process's, as its limit.
std::atomic<rlim_t> first_limit{0};

}  // namespace

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kMost) return;
  const rlim_t first = limit.rlim_cur;
  limit.rlim_cur = std::min(limit.rlim_max, kMost);
  if (limit.rlim_cur > first && ::setrlimit(RLIMIT_NOFILE, &limit) == 0) first_limit = first;
}

std::string with_first_descriptor_limit(const std::string& command) {
  const rlim_t first = first_limit;
  if (first == 0) return command;
  return "ulimit -S -n " + std::to_string(first) + "\n" + command;
}

}  // namespace forebay
