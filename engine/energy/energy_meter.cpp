#include "engine/energy/energy_meter.h"

#include <chrono>
#include <utility>

#include "core/base/enum_names.h"

namespace forebay {
namespace {

// Far below the time in which a counter wraps around: a live run shows its energy.
constexpr std::chrono::seconds kLookPeriod{1};

using Method = EnergyUse::Method;
constexpr EnumName<Method> kMethods[] = {{"none", Method::kNone},
                                         {"estimate", Method::kEstimate},
                                         {"rapl", Method::kRapl},
                                         {"nvml", Method::kNvml}};

}  // namespace

std::string_view name_of(Method method) { return name_in(kMethods, method); }

EnergyUse estimated_energy(double cpu_seconds) {
  if (cpu_seconds <= 0) return {};
  return {.cpu_joules = cpu_seconds * kWattsPerCpu, .cpu_method = Method::kEstimate};
}

EnergyMeter::EnergyMeter(const Sources& sources) {
  if (auto rapl = RaplCounters::open(sources.powercap)) rapl_ = std::move(*rapl);
  if (sources.gpu) {
    if (auto nvml = NvmlCounters::open()) nvml_ = std::move(*nvml);
  }
  if (rapl_ || nvml_) ticker_.emplace(kLookPeriod, [this] { look(); });
}

// A counter that fails in the middle of a run would show less than was used: the estimate counts.
void EnergyMeter::look() {
  reading_([this] {
    if (rapl_ && !rapl_->look()) rapl_.reset();
    if (nvml_ && !nvml_->look()) nvml_.reset();
  });
}

void EnergyMeter::stop() {
  if (!ticker_) return;
  ticker_.reset();
  look();
}

EnergyUse EnergyMeter::used(double cpu_seconds) const {
  EnergyUse use = estimated_energy(cpu_seconds);
  reading_([&] {
    if (rapl_) use = {.cpu_joules = rapl_->joules(), .cpu_method = Method::kRapl};
    if (nvml_) use.gpu_joules = nvml_->joules();
  });
  return use;
}

}  // namespace forebay
