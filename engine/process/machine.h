#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace forebay {

/// CPUs this process may use: those of its affinity mask, and no more than its cgroup's quota
/// (rounded up). At least 1.
int available_cpus();

/// Bytes of memory a process could still take: what the kernel says is available, and no more than
/// the limits of the process's cgroups.
std::uint64_t available_memory();

/// The least limit of the process's cgroups; the largest number where there is none.
std::uint64_t cgroup_memory();

/// The number behind `key` in a /proc table such as `MemAvailable:  123 kB`, in bytes; nothing
/// where it is absent.
std::optional<std::uint64_t> proc_bytes(std::string_view table, std::string_view key);

/// CPUs of a cgroup's `cpu.max` (`200000 100000` is 2), rounded up; nothing for `max`.
std::optional<int> quota_cpus(std::string_view cpu_max);

/// The content of a small file of /proc or /sys; empty when it cannot be read.
std::string read_small_file(const std::string& path);

}  // namespace forebay
