#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace forebay {

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

}  // namespace forebay
