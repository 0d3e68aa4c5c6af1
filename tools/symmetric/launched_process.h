#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// Which of the processes that a launcher started alike this one is.
struct LaunchedProcess {
  std::string launcher;         ///< `srun`, `mpirun`, `torchrun`, …, for messages.
  std::uint64_t rank = 0;       ///< 0 is head and trainer.
  std::uint64_t processes = 0;  ///< 0: the launcher does not tell.
  std::string first_host;       ///< Rank 0's; empty: not told.
  bool one_host = false;        ///< All of them are known to be on one host.
  std::string job;              ///< The launcher's number for this job; empty: not told.
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Reads what Open MPI, MPICH (PMI), torchrun, Slurm or an Indexed Job of Kubernetes put into the
/// environment, in this order: an mpirun inside an sbatch has both, and its own are meant.
/// kInvalid when none did, or a number is none.
Result<LaunchedProcess> placement_in(const Environment& environment);

/// A port that all processes of a job find without being told: from 20000 to 29999, by the job's
/// number.
std::uint16_t port_of(const LaunchedProcess& placement);

}  // namespace forebay
