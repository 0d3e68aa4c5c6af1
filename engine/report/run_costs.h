#pragma once

#include <cstdint>
#include <string>

#include "engine/energy/energy_meter.h"
#include "engine/job/job_spec.h"
#include "engine/report/json_object.h"

namespace forebay {

/// What a run cost by the prices of its job, in their currency. A value.
struct RunMoney {
  double cpus = 0;  ///< Of the CPUs that this process may use, busy or not.
  double bytes = 0;
  double requests = 0;

  double total() const { return cpus + bytes + requests; }
};

/// What a run used that has a price. A value.
struct RunUse {
  double seconds = 0;
  double cpus = 0;  ///< `pipeline.cpus`
  std::uint64_t bytes = 0;
  std::uint64_t requests = 0;
};

/// Returns the price of `use`. Pure.
RunMoney money_of(const RunUse& use, const PriceSpec& prices);

/// Returns an object with `joules` and `method`; with a GPU or workers, also with `cpu_joules` and
/// `cpu_method`, `gpu_joules`, `worker_joules` and `worker_method`.
JsonObject to_json(const EnergyUse& energy);

/// Returns an object with `total`, `cpus`, `bytes`, `requests`, `per_million_rows`.
JsonObject to_json(const RunMoney& money, std::uint64_t rows);

/// Returns the summary's line, such as `energy: 12.3 J per million rows (…), 49 J in all`; "" if
/// nothing is known.
std::string describe_energy(const EnergyUse& energy, std::uint64_t rows);

/// Returns the summary's line on money, such as `money: 0.0021 per million rows, …`.
std::string describe_money(const RunMoney& money, std::uint64_t rows);

}  // namespace forebay
