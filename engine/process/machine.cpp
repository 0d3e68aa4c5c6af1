#include "engine/process/machine.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "core/base/text/number.h"
#include "core/base/whole_file.h"

namespace forebay {
namespace {

// Returns the folders of this process's cgroup and of its parents, innermost first: v2, then v1.
std::vector<std::string> cgroup_folders(const std::string& v1_controller) {
  std::vector<std::string> folders;
  std::string_view lines;
  const std::string text = proc_text("/proc/self/cgroup");
  for (lines = text; !lines.empty();) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    const bool v2 = line.starts_with("0::");
    const std::size_t v1 = line.find(":" + v1_controller + ":");
    if (!v2 && v1 == std::string_view::npos) continue;
    const std::string root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + v1_controller;
    std::string path(line.substr(v2 ? 3 : v1 + v1_controller.size() + 2));
    while (path.size() > 1) {
      folders.push_back(root + path);
      path.resize(std::max<std::size_t>(path.rfind('/'), 1));
    }
    folders.push_back(root);
  }
  return folders;
}

/// Returns the kernel's ids of this process's threads.
std::set<pid_t> all_threads() {
  std::set<pid_t> numbers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const auto number = parse_number<pid_t>(entry.path().filename().string()).value_or(0);
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

std::string proc_text(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  return read_whole(path, kMostBytes).value_or("");
}

std::optional<std::uint64_t> proc_bytes(std::string_view table, std::string_view key) {
  for (std::size_t at = 0; (at = table.find(key, at)) != std::string_view::npos; at += key.size()) {
    const std::size_t end = at + key.size();
    const bool starts_line = at == 0 || table[at - 1] == '\n';
    if (!starts_line || end >= table.size() || table[end] != ':') continue;
    const auto number = leading_number(table.substr(end + 1));
    return number ? std::optional(*number * 1024) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<int> quota_cpus(std::string_view cpu_max) {
  const auto quota = leading_number(cpu_max);
  const auto period = second_number(cpu_max);
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<int>(std::max<std::uint64_t>(1, (*quota + *period - 1) / *period));
}

int available_cpus() {
  int cpus = 1;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof mask, &mask) == 0) {
    cpus = CPU_COUNT(&mask);
  } else {
    cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  }
  for (const std::string& folder : cgroup_folders("cpu")) {
    std::string quota = proc_text(folder + "/cpu.max");
    if (quota.empty()) {
      quota =
          proc_text(folder + "/cpu.cfs_quota_us") + " " + proc_text(folder + "/cpu.cfs_period_us");
    }
    cpus = std::min(cpus, quota_cpus(quota).value_or(cpus));
  }
  return std::max(cpus, 1);
}

std::uint64_t available_memory() {
  const std::string info = proc_text("/proc/meminfo");
  std::uint64_t bytes =
      proc_bytes(info, "MemAvailable").value_or(proc_bytes(info, "MemTotal").value_or(1ULL << 30));
  return std::min(bytes, cgroup_memory());
}

std::uint64_t cgroup_memory() {
  std::uint64_t bytes = ~std::uint64_t{0};
  for (const std::string& folder : cgroup_folders("memory")) {
    for (const char* name : {"/memory.max", "/memory.high", "/memory.limit_in_bytes"}) {
      bytes = std::min(bytes, leading_number(proc_text(folder + name)).value_or(bytes));
    }
  }
  return bytes;
}

CpuLimit::CpuLimit(int place) : place_(place), allowed_(affinity()) {}

CpuLimit::CpuLimit(std::shared_ptr<const ThreadGroup> group)
    : group_(std::move(group)), allowed_(affinity()) {}

std::vector<int> CpuLimit::numbers() const {
  std::vector<int> numbers;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed_)) numbers.push_back(cpu);
  }
  return numbers;
}

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
