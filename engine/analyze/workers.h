#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/job/job_spec.h"
#include "scheduler/cluster_status.h"

namespace forebay {

/// The workers of a run in other processes. A value.
struct Workers {
  std::uint32_t count = 0;
  double splits_per_second = 0;  ///< That one of them could make, the mean; 0: not known.
};

/// Counts the workers of a cluster that may make splits, but for the trainer's own `local`. Pure.
Workers workers_in(const scheduler::ClusterStatus& cluster, const std::string& local);

/// A machine on which an analysis can start workers of a job beside the job itself. A value.
struct LocalMachine {
  std::vector<int> cpus;     ///< That this process may use, in order.
  std::uint64_t memory = 0;  ///< Available bytes.
  std::string program;       ///< Path of `forebay`; "": none can be started.
};

/// Returns a command that starts `workers` workers of `job` on the machine, called as
/// `cluster.scale` is. Each has as many CPUs as the job, but others, and the job's memory, or its
/// share of half of the machine's if that is less. "": there is not enough of either, or no
/// program. They join at the address in the file
/// local_workers_address(), and end with the job. Pure.
std::string local_workers_command(const JobSpec& job, std::uint32_t workers,
                                  const LocalMachine& machine);
std::string local_workers_address(const JobSpec& job);

}  // namespace forebay
