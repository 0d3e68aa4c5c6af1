#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// Returns the hosts of a Slurm node list, in its order: `node[01-03,7],gpu-a[1-2]b` is node01,
/// node02, node03, node7, gpu-a1b, gpu-a2b. Several brackets in one name are combined, the last one
/// varies fastest. kInvalid: Slurm would not write such a list, or it has more than 65536 hosts.
Result<std::vector<std::string>> expand_hosts(std::string_view list);

/// The position of this process among those that a launcher started.
struct LaunchedProcess {
  std::string launcher;         ///< `srun`, `mpirun`, `torchrun`, …, for messages.
  std::uint64_t rank = 0;       ///< 0 is head and trainer.
  std::uint64_t processes = 0;  ///< 0: unknown.
  std::string first_host;       ///< Rank 0's host; empty: unknown.
  bool one_host = false;        ///< All processes are known to be on one host.
  std::string job;              ///< The launcher's id of this job; empty: unknown.
};

/// Returns the value of an environment variable; nullopt: it is not set.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;

/// Reads the environment variables of Open MPI, MPICH (PMI), torchrun, Slurm or an Indexed Job of
/// Kubernetes, in this order: an mpirun inside an sbatch has both, and mpirun's are the right ones.
/// kInvalid: no launcher's variables are set, or a number is invalid.
Result<LaunchedProcess> placement_in(const Variables& variables);

/// Returns a port on which all processes of a job agree without communication: from 20000 to 29999,
/// derived from the job's id.
std::uint16_t port_of(const LaunchedProcess& placement);

/// How the processes of one job find their head.
struct MeetingPoint {
  /// Written by the trainer; visible to processes that share its file system.
  std::string address_file;
  std::string first_host;  ///< Rank 0's host.
  /// The port that rank 0 listens on if it is free, for processes without shared files.
  std::uint16_t port = 0;
  /// Time in which only the file is read.
  std::chrono::nanoseconds alone = std::chrono::seconds(10);
  std::chrono::nanoseconds patience = std::chrono::minutes(10);
};

/// Returns the address to join from the one that the trainer wrote: an address that means every
/// interface is reached at `first_host`. "" if `written` is not an address.
std::string joinable(const std::string& written, const std::string& first_host);

/// Waits until the head listens and returns its address. The address in an old file is used only
/// after a successful connection. "": `ended` returned true. kTimeout after `patience`.
Result<std::string> await_head(const MeetingPoint& point,
                               const std::function<bool(std::chrono::nanoseconds waited)>& ended);

}  // namespace forebay
