#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/runtime/synchronized.h"
#include "core/runtime/ticker.h"
#include "engine/energy/nvml.h"
#include "engine/energy/rapl.h"

namespace forebay {

/// The energy of a run, and how it is known. A value.
struct EnergyUse {
  enum class Method : std::uint8_t { kNone, kEstimate, kRapl, kNvml };

  double cpu_joules = 0;                  ///< By RAPL (all of the sockets), or estimated.
  Method cpu_method = Method::kNone;      ///< kEstimate or kRapl.
  std::optional<double> gpu_joules = {};  ///< By NVML, where the run uses a GPU.
  double worker_joules = 0;               ///< Of its workers (worker_energy.h).
  Method worker_method = Method::kNone;   ///< kNone: no workers.

  double joules() const { return cpu_joules + gpu_joules.value_or(0) + worker_joules; }
  /// kNvml with a GPU; else that of the CPUs, and kEstimate where workers have another one.
  Method method() const {
    if (gpu_joules) return Method::kNvml;
    const bool same = worker_method == Method::kNone || worker_method == cpu_method;
    return same ? cpu_method : Method::kEstimate;
  }
};

/// Returns `rapl`, `nvml`, `estimate` or `none`.
std::string_view name_of(EnergyUse::Method method);

/// Power of one busy CPU, for estimates.
inline constexpr double kWattsPerCpu = 10;

/// Returns the estimate for `cpu_seconds`; none without any.
EnergyUse estimated_energy(double cpu_seconds);

/// Counts the energy of a run from its construction to stop().
///
/// Reads the counters on a thread of its own, once a second. stop() belongs to one thread; any
/// thread may call used().
class EnergyMeter {
 public:
  struct Sources {
    std::string powercap = "/sys/class/powercap";
    bool gpu = false;  ///< Whether the run uses GPUs.
  };

  explicit EnergyMeter(const Sources& sources);

  /// Takes the last readings; further calls do nothing.
  void stop();

  /// Returns the energy up to the last reading of a run that has used `cpu_seconds`, which the
  /// estimate is made of.
  EnergyUse used(double cpu_seconds) const;

 private:
  void look();

  const Synchronized<> reading_;  // guards the two below
  // Empty: not there, not allowed, or lost.
  std::optional<RaplCounters> rapl_;
  std::optional<NvmlCounters> nvml_;
  std::optional<Ticker> ticker_;
};

}  // namespace forebay
