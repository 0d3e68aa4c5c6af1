#include "engine/process/cpu_limit.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>

namespace forebay {
namespace {

/// The kernel's numbers of this process's threads.
std::set<pid_t> threads() {
  std::set<pid_t> numbers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const std::string name = entry.path().filename().string();
    pid_t number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number > 0) numbers.insert(number);
  }
  return numbers;
}

}  // namespace

CpuLimit::CpuLimit(int place) : place_(place) {
  CPU_ZERO(&allowed_);
  if (::sched_getaffinity(0, sizeof allowed_, &allowed_) != 0) CPU_SET(0, &allowed_);
}

Status CpuLimit::set(int cpus) const {
  cpu_set_t kept = allowed_;
  const int first = place_ * cpus % most();
  for (int cpu = 0, number = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &kept)) continue;
    // Counted from the first of ours, and round from the last to the first.
    if ((number + most() - first) % most() >= cpus) CPU_CLR(cpu, &kept);
    ++number;
  }
  if (::sched_setaffinity(0, sizeof kept, &kept) != 0) {
    return fail(Code::kUnavailable, std::string("pipeline.cpus: ") + std::strerror(errno));
  }
  // A thread that was started meanwhile by one not yet kept shows in the next round.
  std::set<pid_t> done;
  for (std::set<pid_t> all = threads(); all != done; all = threads()) {
    for (const pid_t thread : all) ::sched_setaffinity(thread, sizeof kept, &kept);
    done = std::move(all);
  }
  return {};
}

}  // namespace forebay
