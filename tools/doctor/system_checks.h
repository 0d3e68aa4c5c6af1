#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/doctor/checks.h"

namespace forebay {

/// What a job will want of the machine. A value.
struct SystemNeeds {
  std::uint64_t threads = 0;  ///< Of the process at its most; 0: not known.
  std::uint64_t memory = 0;   ///< `pipeline.memory`; 0: not known.
  bool network = false;       ///< Reads a store or has workers.
};

SystemNeeds needs_of(const JobSpec& job);

// Each looks at the machine by the kernel's files under `root`, which is "" for this machine's own;
// they read nothing else. A finding says what its subject will cost.

/// Whether the process's CPUs are on several NUMA nodes, and how much farther the other's memory
/// is.
Finding check_numa(const std::string& root);
/// Limits of the process's cgroups, and how often the CPU quota has stopped it.
std::vector<Finding> check_cgroups(const std::string& root);
/// Whether huge pages may swell the resident memory, or none are given to tables.
Finding check_huge_pages(const std::string& root, const SystemNeeds& needs);
/// Limits on processes, address space and file sizes.
std::vector<Finding> check_limits(const std::string& root, const SystemNeeds& needs);
/// The clock that times are read from; `reading` is what one reading takes.
Finding check_clock_source(const std::string& root, std::chrono::nanoseconds reading);
/// The speed of the network devices that are up.
Finding check_network(const std::string& root, const SystemNeeds& needs);
/// Whether the dataset's local files fit into the file cache beside the job; `speed` is the disk's
/// in bytes/s, 0 if it is not known.
Finding check_file_cache(const std::string& root, std::uint64_t dataset_bytes,
                         const SystemNeeds& needs, double speed);

/// All of the above but the file cache, on this machine.
std::vector<Finding> check_system(const SystemNeeds& needs);

/// What reading a file from its disk, past the cache, gave.
struct DiskSpeed {
  std::uint64_t bytes = 0;
  double seconds = 0;

  double bytes_per_second() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
};

/// Reads up to 64 MiB of a file past the file cache, for half a second at most. kUnavailable: its
/// file system has no such reads.
Result<DiskSpeed> measure_disk(const std::string& path);

/// What an epoch of `dataset_bytes` takes at least from a disk of this speed. Pure.
Finding check_disk_speed(const Result<DiskSpeed>& speed, std::uint64_t dataset_bytes);

}  // namespace forebay
