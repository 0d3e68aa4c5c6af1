#include "engine/process/cpu_limit.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

namespace forebay {
namespace {

/// Returns the kernel's ids of this process's threads.
std::set<pid_t> all_threads() {
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

/// Returns the affinity of the calling thread.
cpu_set_t affinity() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_SET(0, &allowed);
  return allowed;
}

}  // namespace

CpuLimit::CpuLimit(int place) : place_(place), allowed_(affinity()) {}

CpuLimit::CpuLimit(std::shared_ptr<const ThreadGroup> group)
    : group_(std::move(group)), allowed_(affinity()) {}

Status CpuLimit::set(int cpus) const {
  cpu_set_t kept = allowed_;
  const int first = place_ * cpus % most();
  for (int cpu = 0, number = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &kept)) continue;
    // The CPUs are counted from number `first` on and wrap around after the last one.
    if ((number + most() - first) % most() >= cpus) CPU_CLR(cpu, &kept);
    ++number;
  }
  if (!group_ && ::sched_setaffinity(0, sizeof kept, &kept) != 0) {
    return fail(Code::kUnavailable, std::string("pipeline.cpus: ") + std::strerror(errno));
  }
  const auto threads = [this] { return group_ ? group_->threads() : all_threads(); };
  // A thread started meanwhile by a thread without the mask is found in the next round.
  std::set<pid_t> done;
  for (std::set<pid_t> all = threads(); all != done; all = threads()) {
    for (const pid_t thread : all) ::sched_setaffinity(thread, sizeof kept, &kept);
    done = std::move(all);
  }
  return {};
}

}  // namespace forebay
