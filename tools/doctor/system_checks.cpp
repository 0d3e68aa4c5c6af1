#include "tools/doctor/system_checks.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "core/base/clock.h"
#include "core/base/text/number.h"
#include "engine/job/quantity.h"
#include "engine/process/machine.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;
constexpr std::chrono::nanoseconds kSlowClock{200};  // a system call; the vDSO takes a tenth
constexpr double kMuchThrottled = 0.01;              // of the periods

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// The rest of the line that begins with `key`; "" without one.
std::string_view after(std::string_view table, std::string_view key) {
  for (const std::string_view line : split(table, '\n')) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return {};
}

/// The numbers of a kernel's list, such as `0-3,8`.
std::set<std::uint64_t> numbers_of(std::string_view list) {
  constexpr std::uint64_t kMost = 1 << 16;
  std::set<std::uint64_t> numbers;
  for (const std::string_view range : split(list, ',')) {
    const auto first = leading_number(range);
    if (!first) continue;
    const std::size_t dash = range.find('-');
    const auto last =
        dash == std::string_view::npos ? first : leading_number(range.substr(dash + 1));
    for (std::uint64_t i = *first; i <= std::min(last.value_or(*first), kMost); ++i) {
      numbers.insert(i);
    }
  }
  return numbers;
}

/// Names in a folder that begin with `prefix`, sorted.
std::vector<std::string> names_in(const std::string& folder, std::string_view prefix = "") {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with(prefix)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

/// The process's cgroup folders under `root`, innermost first: version 2's.
std::vector<std::string> cgroups(const std::string& root) {
  std::vector<std::string> folders;
  const std::string text = proc_text(root + "/proc/self/cgroup");
  const std::string base = root + "/sys/fs/cgroup";
  std::string path(after(text, "0::"));
  while (path.size() > 1) {
    folders.push_back(base + path);
    path.resize(std::max<std::size_t>(path.rfind('/'), 1));
  }
  folders.push_back(base);
  return folders;
}

Finding check_throttling(const std::string& root) {
  for (const std::string& folder : cgroups(root)) {
    const auto cpus = quota_cpus(proc_text(folder + "/cpu.max"));
    if (!cpus) continue;
    const std::string stat = proc_text(folder + "/cpu.stat");
    const double periods =
        static_cast<double>(leading_number(after(stat, "nr_periods ")).value_or(0));
    const double stopped =
        static_cast<double>(leading_number(after(stat, "nr_throttled ")).value_or(0));
    const std::string quota = "a quota of " + std::to_string(*cpus) + " CPUs";
    if (periods > 0 && stopped / periods > kMuchThrottled) {
      return Finding::warn("cgroup cpu",
                           quota + " stopped its processes in " +
                               format_percent(stopped / periods) + " of the periods so far",
                           "a stopped actor holds its split for up to a period: set "
                           "pipeline.cpus to the quota, or raise cpu.max");
    }
    return Finding::ok("cgroup cpu", quota + ", hardly ever reached");
  }
  return Finding::ok("cgroup cpu", "no quota");
}

Finding check_cgroup_memory(const std::string& root) {
  for (const std::string& folder : cgroups(root)) {
    const auto high = leading_number(proc_text(folder + "/memory.high"));
    const auto most = leading_number(proc_text(folder + "/memory.max"));
    if (high && (!most || *high < *most)) {
      return Finding::warn("cgroup memory",
                           "memory.high is " + format_size(*high) +
                               ": beyond it the kernel slows the process down, by seconds",
                           "set pipeline.memory well below it");
    }
    if (most) {
      return Finding::ok("cgroup memory",
                         format_size(*most) + " at most; beyond it the process is killed");
    }
  }
  return Finding::ok("cgroup memory", "no limit");
}

std::string duration_of(std::uint64_t bytes, double speed) {
  return format_duration(std::chrono::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(bytes) / speed * 1e9)));
}

std::string format_speed(double bytes_per_second) {
  return format_number(bytes_per_second / 1e6, 0) + " MB/s";
}

/// A row of /proc/self/limits: the soft limit; nullopt: unlimited, or not listed.
std::optional<std::uint64_t> limit(const std::string& table, std::string_view name) {
  return leading_number(after(table, name));
}

}  // namespace

Finding check_numa(const std::string& root) {
  const std::string nodes = root + "/sys/devices/system/node";
  const auto allowed =
      numbers_of(after(proc_text(root + "/proc/self/status"), "Cpus_allowed_list:"));
  std::vector<std::uint64_t> used;
  for (const std::string& name : names_in(nodes, "node")) {
    const auto number = leading_number(std::string_view(name).substr(4));
    if (!number) continue;
    const fs::path folder = fs::path(nodes) / name;
    const auto cpus = numbers_of(proc_text(folder / "cpulist"));
    const bool has_some =
        std::ranges::any_of(cpus, [&](auto cpu) { return allowed.contains(cpu); });
    if (has_some) used.push_back(*number);
  }
  if (used.size() < 2) return Finding::ok("numa", "all CPUs of this process are on one node");
  const std::string distances = proc_text(nodes + "/node" + std::to_string(used[0]) + "/distance");
  const auto row = split(std::string_view(distances).substr(0, distances.find('\n')), ' ');
  const auto to = [&](std::uint64_t node) {
    return node < row.size() ? static_cast<double>(leading_number(row[node]).value_or(0)) : 0;
  };
  double farthest = 1;
  for (const std::uint64_t node : used) {
    if (to(used[0]) > 0) farthest = std::max(farthest, to(node) / to(used[0]));
  }
  return Finding::warn("numa",
                       "its CPUs are on " + std::to_string(used.size()) +
                           " nodes: a read of another node's memory takes up to " +
                           format_number(farthest, 1) + " times as long",
                       "run one process a node: numactl --cpunodebind=" + std::to_string(used[0]) +
                           " --membind=" + std::to_string(used[0]));
}

std::vector<Finding> check_cgroups(const std::string& root) {
  return {check_throttling(root), check_cgroup_memory(root)};
}

Finding check_huge_pages(const std::string& root, const SystemNeeds& needs) {
  const std::string text = proc_text(root + "/sys/kernel/mm/transparent_hugepage/enabled");
  const auto is = [&](const char* mode) { return text.find(mode) != std::string::npos; };
  if (text.empty()) return Finding::ok("huge pages", "the kernel does not say");
  if (is("[never]")) {
    return Finding::warn("huge pages",
                         "never: tables of GBs are looked up through 4 KiB pages, with "
                         "a page walk for most rows",
                         "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
  }
  if (!is("[always]")) return Finding::ok("huge pages", "where a program asks for them (madvise)");
  const std::uint64_t swell = needs.threads * kHugePage;
  const std::string what = "always: a thread's first page takes 2 MiB";
  if (needs.memory == 0 || swell * 10 < needs.memory) return Finding::ok("huge pages", what);
  return Finding::warn("huge pages",
                       what + ", so " + format_count(needs.threads) + " threads take up to " +
                           format_size(swell) + " of pipeline.memory",
                       "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, or raise "
                       "pipeline.memory");
}

std::vector<Finding> check_limits(const std::string& root, const SystemNeeds& needs) {
  const std::string table = proc_text(root + "/proc/self/limits");
  std::vector<Finding> findings;
  const auto threads = limit(table, "Max processes");
  if (threads && needs.threads > *threads) {
    findings.push_back(Finding::warn(
        "threads",
        format_count(*threads) + " for this user, the job may want " + format_count(needs.threads) +
            ": a run then fails when it starts an actor",
        "raise the limit: ulimit -u " + std::to_string(needs.threads + *threads)));
  }
  const auto space = limit(table, "Max address space");
  if (space && needs.memory > 0 && *space < 4 * needs.memory) {
    findings.push_back(Finding::warn(
        "address space",
        format_size(*space) + ", and libraries reserve several times what they use: allocations "
                              "fail before pipeline.memory is reached",
        "ulimit -v unlimited"));
  }
  if (const auto size = limit(table, "Max file size")) {
    findings.push_back(Finding::warn(
        "file size",
        format_size(*size) + " at most: a larger checkpoint or index cannot be written",
        "ulimit -f unlimited"));
  }
  if (findings.empty()) findings.push_back(Finding::ok("limits", "threads, memory, file sizes"));
  return findings;
}

Finding check_clock_source(const std::string& root, std::chrono::nanoseconds reading) {
  std::string source =
      proc_text(root + "/sys/devices/system/clocksource/clocksource0/current_clocksource");
  source.resize(std::min(source.find('\n'), source.size()));
  const std::string what = (source.empty() ? "the kernel's clock" : source) + ": a reading takes " +
                           std::to_string(reading.count()) + " ns";
  if (reading < kSlowClock) return Finding::ok("clock source", what);
  // Five readings for each message of a pool, and two for each batch.
  return Finding::warn("clock source",
                       what + ", a split of five stages " +
                           format_number(in_seconds(25 * reading) * 1e6, 0) + " µs more",
                       "boot with a stable tsc (clocksource=tsc), or use another machine type");
}

Finding check_network(const std::string& root, const SystemNeeds& needs) {
  if (!needs.network) return Finding::ok("network", "not needed by this job");
  const std::string devices = root + "/sys/class/net";
  std::uint64_t fastest = 0;
  std::string name;
  bool unknown = false;
  for (const std::string& device : names_in(devices)) {
    const fs::path folder = fs::path(devices) / device;
    if (device == "lo" || !proc_text(folder / "operstate").starts_with("up")) continue;
    const auto speed = leading_number(proc_text(folder / "speed"));  // Mbit/s; -1: not known
    if (!speed || *speed == 0) unknown = true;
    if (speed.value_or(0) > fastest) {
      fastest = *speed;
      name = device;
    }
  }
  if (fastest > 0) {
    return Finding::ok("network", name + ": " + format_count(fastest) + " Mbit/s, so at most " +
                                      format_speed(static_cast<double>(fastest) * 1e6 / 8));
  }
  if (unknown) return Finding::ok("network", "its device does not say its speed");
  return Finding::warn("network", "no device is up, but the job reads a store or has workers",
                       "only addresses of this machine can be reached");
}

Finding check_file_cache(const std::string& root, std::uint64_t dataset_bytes,
                         const SystemNeeds& needs, double speed) {
  const std::string info = proc_text(root + "/proc/meminfo");
  const std::uint64_t there = proc_bytes(info, "MemAvailable").value_or(0);
  const std::uint64_t free = there > needs.memory ? there - needs.memory : 0;
  const std::string what = "the dataset has " + format_size(dataset_bytes) + ", the cache " +
                           format_size(free) + " beside the job";
  if (dataset_bytes <= free) return Finding::ok("file cache", what);
  std::string cost = ": every epoch reads the disk again";
  if (speed > 0) cost += ", for at least " + duration_of(dataset_bytes, speed);
  return Finding::warn("file cache", what + cost,
                       "more memory, a lower pipeline.memory, or Parquet, which is smaller");
}

Finding check_disk_speed(const Result<DiskSpeed>& speed, std::uint64_t dataset_bytes) {
  if (!speed) return Finding::ok("disk speed", speed.error().message);
  const double rate = speed->bytes_per_second();
  if (rate <= 0) return Finding::ok("disk speed", "the files are too small to tell");
  return Finding::ok("disk speed", format_speed(rate) +
                                       " past the cache: an epoch takes at least " +
                                       duration_of(dataset_bytes, rate) + " from it");
}

}  // namespace forebay
