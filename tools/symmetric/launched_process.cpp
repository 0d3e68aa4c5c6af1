#include "tools/symmetric/launched_process.h"

#include <array>
#include <string_view>
#include <utility>

#include "core/data/digest.h"
#include "engine/job/quantity.h"
#include "tools/symmetric/host_list.h"

namespace forebay {
namespace {

/// The environment variables of one launcher; an empty name: the launcher has no such variable.
struct Launcher {
  std::string_view name;
  const char* rank;
  const char* processes;
  const char* job;
  const char* local_processes;
};

constexpr std::array kLaunchers = {
    Launcher{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE",
             "OMPI_COMM_WORLD_LOCAL_SIZE"},
    Launcher{"torchrun", "RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID", "LOCAL_WORLD_SIZE"},
    Launcher{"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID", ""},
    Launcher{"mpirun", "PMI_RANK", "PMI_SIZE", "PMI_ID", "MPI_LOCALNRANKS"},
    Launcher{"Indexed Job", "JOB_COMPLETION_INDEX", "", "JOB_NAME", ""},
};

Result<std::uint64_t> number(const char* name, const std::string& text) {
  constexpr std::uint64_t kMost = 1'000'000;
  auto value = environment_number(name, text, 0, kMost);
  if (!value) return fail(value.error().code, "symmetric-run: " + value.error().message);
  return value;
}

// srun's step may use only some of the job's nodes; mpirun inside Slurm starts on the job's first
// node.
Status add_slurm_hosts(const Variables& variables, LaunchedProcess& placement) {
  auto list = variables("SLURM_STEP_NODELIST");
  if (!list || list->empty()) list = variables("SLURM_JOB_NODELIST");
  if (!list || list->empty()) return {};
  auto hosts = expand_hosts(*list);
  if (!hosts) return pass(hosts);
  placement.first_host = hosts->front();
  placement.one_host = hosts->size() == 1;
  return {};
}

Status add_hosts(const Variables& variables, const Launcher& launcher, LaunchedProcess& placement) {
  if (auto address = variables("MASTER_ADDR"); launcher.name == "torchrun" && address) {
    placement.first_host = *address;
  } else if (auto status = add_slurm_hosts(variables, placement); !status) {
    return status;
  }
  if (*launcher.local_processes == '\0' || placement.processes == 0) return {};
  if (auto local = variables(launcher.local_processes)) {
    auto count = number(launcher.local_processes, *local);
    if (!count) return pass(count);
    placement.one_host = *count == placement.processes;
  }
  return {};
}

Result<LaunchedProcess> read(const Variables& variables, const Launcher& launcher,
                             const std::string& rank) {
  LaunchedProcess placement;
  placement.launcher = launcher.name;
  auto own = number(launcher.rank, rank);
  if (!own) return pass(own);
  placement.rank = *own;
  if (auto all = variables(launcher.processes); all && *launcher.processes != '\0') {
    auto count = number(launcher.processes, *all);
    if (!count) return pass(count);
    if (placement.rank >= *count) {
      return fail(Code::kInvalid, "symmetric-run: " + std::string(launcher.rank) + "=" + rank +
                                      ", but " + launcher.processes + "=" + *all);
    }
    placement.processes = *count;
  }
  if (auto job = variables("SLURM_JOB_ID")) placement.job = *job;
  if (auto job = variables(launcher.job)) placement.job = *job;
  if (auto step = variables("SLURM_STEP_ID"); step && launcher.name == "srun") {
    placement.job += "." + *step;
  }
  if (auto status = add_hosts(variables, launcher, placement); !status) return pass(status);
  return placement;
}

}  // namespace

Result<LaunchedProcess> placement_in(const Variables& variables) {
  for (const Launcher& launcher : kLaunchers) {
    if (auto rank = variables(launcher.rank)) return read(variables, launcher, *rank);
  }
  return fail(Code::kInvalid,
              "symmetric-run finds no launcher's variables (SLURM_PROCID, OMPI_COMM_WORLD_RANK, "
              "PMI_RANK, RANK, JOB_COMPLETION_INDEX): start it by srun, mpirun, torchrun or an "
              "Indexed Job; on one machine, forebay train does");
}

std::uint16_t port_of(const LaunchedProcess& placement) {
  const Digest digest = Digest::of(placement.job.data(), placement.job.size());
  return static_cast<std::uint16_t>(20000 + digest.low % 10000);
}

}  // namespace forebay
