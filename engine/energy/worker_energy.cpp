#include "engine/energy/worker_energy.h"

#include <algorithm>
#include <map>

#include "core/base/random.h"
#include "core/base/whole_file.h"

namespace forebay {
namespace {

using Method = EnergyUse::Method;

constexpr char kBootId[] = "/proc/sys/kernel/random/boot_id";

/// The most that a process has counted, for each machine whose sockets are counted.
std::map<std::uint64_t, double> counted_machines(const std::vector<WorkerEnergy>& workers) {
  std::map<std::uint64_t, double> most;
  for (const WorkerEnergy& worker : workers) {
    if (!worker.counted || worker.machine == 0) continue;
    double& joules = most[worker.machine];
    joules = std::max(joules, worker.joules);
  }
  return most;
}

}  // namespace

std::uint64_t machine_number() {
  constexpr std::size_t kMostBytes = 64;
  const std::string id = read_whole(kBootId, kMostBytes).value_or("");
  std::uint64_t number = 0;
  for (const unsigned char letter : id) number = mix64(number, letter);
  return number;
}

EnergyUse with_workers(EnergyUse own, std::uint64_t here,
                       const std::vector<WorkerEnergy>& workers) {
  std::map<std::uint64_t, double> machines = counted_machines(workers);
  if (own.cpu_method == Method::kRapl && here != 0) machines[here] = 0;  // own has it
  for (const auto& [machine, joules] : machines) own.worker_joules += joules;
  bool all_counted = true;
  for (const WorkerEnergy& worker : workers) {
    if (worker.machine != 0 && machines.contains(worker.machine)) continue;
    own.worker_joules += worker.joules;
    all_counted = all_counted && worker.counted;
  }
  if (!workers.empty()) own.worker_method = all_counted ? Method::kRapl : Method::kEstimate;
  return own;
}

}  // namespace forebay
