#include "tools/doctor/system_checks.h"

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Verdict = Finding::Verdict;

/// A machine of made-up files.
struct Machine {
  test::TempDir dir;

  const Machine& with(const std::string& path, const std::string& text) const {
    static_cast<void>(dir.write(path, text));
    return *this;
  }
  std::string root() const { return dir.path(); }
};

bool says(const Finding& finding, const std::string& text) {
  INFO(to_line(finding));
  return to_line(finding).find(text) != std::string::npos;
}

TEST_CASE("CPUs on two NUMA nodes cost what the kernel's distances say", "[tools][doctor]") {
  Machine machine;
  machine.with("sys/devices/system/node/node0/cpulist", "0-3\n")
      .with("sys/devices/system/node/node0/distance", "10 21\n")
      .with("sys/devices/system/node/node1/cpulist", "4-7\n")
      .with("sys/devices/system/node/node1/distance", "21 10\n")
      .with("proc/self/status", "Name:\tx\nCpus_allowed_list:\t2,5-6\n");
  const Finding both = check_numa(machine.root());
  CHECK(both.verdict == Verdict::kWarn);
  CHECK(says(both, "on 2 nodes"));
  CHECK(says(both, "2.1 times as long"));
  CHECK(says(both, "numactl --cpunodebind=0"));
  machine.with("proc/self/status", "Cpus_allowed_list:\t4-5\n");
  CHECK(check_numa(machine.root()).verdict == Verdict::kOk);
  CHECK(check_numa(Machine().root()).verdict == Verdict::kOk);  // a kernel without NUMA
}

TEST_CASE("a CPU quota that stops the process is reported with how often", "[tools][doctor]") {
  Machine machine;
  machine.with("proc/self/cgroup", "0::/jobs/a\n")
      .with("sys/fs/cgroup/jobs/a/cpu.max", "200000 100000\n")
      .with("sys/fs/cgroup/jobs/a/cpu.stat", "usage_usec 9\nnr_periods 400\nnr_throttled 100\n");
  const auto stopped = check_cgroups(machine.root());
  REQUIRE(stopped.size() == 2);
  CHECK(stopped[0].verdict == Verdict::kWarn);
  CHECK(says(stopped[0], "a quota of 2 CPUs"));
  CHECK(says(stopped[0], "25 %"));
  machine.with("sys/fs/cgroup/jobs/a/cpu.stat", "nr_periods 400\nnr_throttled 4\n");
  CHECK(check_cgroups(machine.root())[0].verdict == Verdict::kOk);  // 1 % is not above 1 %
  CHECK(says(check_cgroups(Machine().root())[0], "no quota"));
}

TEST_CASE("the limit of a cgroup above the process's counts as well", "[tools][doctor]") {
  Machine machine;
  machine.with("proc/self/cgroup", "0::/jobs/a\n")
      .with("sys/fs/cgroup/jobs/a/memory.max", "max\n")
      .with("sys/fs/cgroup/jobs/memory.max", "1073741824\n");
  CHECK(says(check_cgroups(machine.root())[1], "1 GiB at most"));
  machine.with("sys/fs/cgroup/jobs/a/memory.high", "536870912\n");
  const Finding slowed = check_cgroups(machine.root())[1];
  CHECK(slowed.verdict == Verdict::kWarn);
  CHECK(says(slowed, "memory.high is 512 MiB"));
  CHECK(says(check_cgroups(Machine().root())[1], "no limit"));
}

TEST_CASE("huge pages cost memory with many threads, and page walks without any",
          "[tools][doctor]") {
  const std::string file = "sys/kernel/mm/transparent_hugepage/enabled";
  Machine machine;
  machine.with(file, "[always] madvise never\n");
  const SystemNeeds many{.threads = 100, .memory = 1 << 30};  // 200 MiB of 1 GiB
  CHECK(check_huge_pages(machine.root(), many).verdict == Verdict::kWarn);
  CHECK(says(check_huge_pages(machine.root(), many), "up to 200 MiB of pipeline.memory"));
  const SystemNeeds few{.threads = 10, .memory = 1 << 30};
  CHECK(check_huge_pages(machine.root(), few).verdict == Verdict::kOk);
  machine.with(file, "always [madvise] never\n");
  CHECK(check_huge_pages(machine.root(), many).verdict == Verdict::kOk);
  machine.with(file, "always madvise [never]\n");
  CHECK(check_huge_pages(machine.root(), few).verdict == Verdict::kWarn);
  CHECK(check_huge_pages(Machine().root(), many).verdict == Verdict::kOk);
}

TEST_CASE("limits of the shell that a job will reach are named", "[tools][doctor]") {
  Machine machine;
  machine.with("proc/self/limits",
               "Limit                     Soft Limit           Hard Limit           Units\n"
               "Max file size             1048576              unlimited            bytes\n"
               "Max processes             50                   100                  processes\n"
               "Max address space         2147483648           unlimited            bytes\n");
  const auto found = check_limits(machine.root(), {.threads = 51, .memory = 1 << 30});
  REQUIRE(found.size() == 3);
  CHECK(says(found[0], "50 for this user, the job may want 51"));
  CHECK(says(found[0], "ulimit -u 101"));
  CHECK(says(found[1], "2 GiB"));
  CHECK(says(found[2], "1 MiB at most"));
  machine.with("proc/self/limits",
               "Max file size             unlimited            unlimited            bytes\n"
               "Max processes             50                   100                  processes\n");
  const auto fine = check_limits(machine.root(), {.threads = 50});
  REQUIRE(fine.size() == 1);
  CHECK(fine[0].verdict == Verdict::kOk);
}

TEST_CASE("a slow clock source costs microseconds a split", "[tools][doctor]") {
  Machine machine;
  machine.with("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  const Finding slow = check_clock_source(machine.root(), std::chrono::nanoseconds(1000));
  CHECK(slow.verdict == Verdict::kWarn);
  CHECK(says(slow, "hpet: a reading takes 1000 ns, a split of five stages 25 µs more"));
  CHECK(check_clock_source(machine.root(), std::chrono::nanoseconds(30)).verdict == Verdict::kOk);
}

TEST_CASE("the fastest network device that is up bounds what a store can bring",
          "[tools][doctor]") {
  Machine machine;
  machine.with("sys/class/net/lo/operstate", "up\n")
      .with("sys/class/net/eth0/operstate", "up\n")
      .with("sys/class/net/eth0/speed", "1000\n")
      .with("sys/class/net/eth1/operstate", "down\n")
      .with("sys/class/net/eth1/speed", "100000\n");
  const SystemNeeds store{.network = true};
  CHECK(says(check_network(machine.root(), store), "eth0: 1,000 Mbit/s, so at most 125 MB/s"));
  CHECK(says(check_network(machine.root(), {}), "not needed"));
  machine.with("sys/class/net/eth0/speed", "-1\n");
  CHECK(says(check_network(machine.root(), store), "does not say its speed"));
  machine.with("sys/class/net/eth0/operstate", "down\n");
  CHECK(check_network(machine.root(), store).verdict == Verdict::kWarn);
}

TEST_CASE("a dataset beyond the file cache is read from the disk each epoch", "[tools][doctor]") {
  Machine machine;
  machine.with("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    4194304 kB\n");  // 4 GiB
  const SystemNeeds needs{.memory = std::uint64_t{1} << 30};
  const std::uint64_t three = std::uint64_t{3} << 30;
  CHECK(check_file_cache(machine.root(), three, needs, 1e9).verdict == Verdict::kOk);
  const Finding beyond = check_file_cache(machine.root(), three + 1, needs, 322122547.2);
  CHECK(beyond.verdict == Verdict::kWarn);
  CHECK(says(beyond, "every epoch reads the disk again, for at least 10 s"));  // 3 GiB / 307 MiB/s
  CHECK_FALSE(says(check_file_cache(machine.root(), three + 1, needs, 0), "at least"));
}

TEST_CASE("a disk's speed gives the least time of an epoch", "[tools][doctor]") {
  const DiskSpeed speed{.bytes = 50'000'000, .seconds = 0.5};
  CHECK(says(check_disk_speed(speed, 1'000'000'000), "100 MB/s past the cache"));
  CHECK(says(check_disk_speed(speed, 1'000'000'000), "at least 10 s"));
  CHECK(says(check_disk_speed(DiskSpeed{}, 5), "too small"));
  CHECK(says(check_disk_speed(fail(Code::kUnavailable, "not measured: x"), 5), "not measured: x"));
  CHECK(measure_disk("/none").error().code == Code::kUnavailable);
}

}  // namespace
}  // namespace forebay
