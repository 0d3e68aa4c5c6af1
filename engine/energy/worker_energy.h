#pragma once

#include <cstdint>
#include <vector>

#include "engine/energy/energy_meter.h"

namespace forebay {

/// Returns a number that the processes of this machine share, containers included, and those of
/// others do not: of the kernel's boot. 0: it is not known.
std::uint64_t machine_number();

/// The energy that one worker of a job reports. A value.
struct WorkerEnergy {
  double joules = 0;
  bool counted = false;       ///< By RAPL, so all of its machine's; else estimated.
  std::uint64_t machine = 0;  ///< Its machine_number(); 0: not known, so another one than all.
};

/// Adds what the workers of a run on the machine `here` used.
///
/// Counters are of whole machines: where processes of one machine count, the one that counted most
/// stands for all, those with an estimate included. Estimates add up. Pure.
EnergyUse with_workers(EnergyUse own, std::uint64_t here, const std::vector<WorkerEnergy>& workers);

}  // namespace forebay
