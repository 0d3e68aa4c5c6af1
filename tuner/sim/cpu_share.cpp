#include "tuner/sim/cpu_share.h"

#include <algorithm>
#include <cmath>

namespace forebay::tuner {
namespace {

// Resolution 2⁻⁴⁰ CPUs: a million CPUs still fit, and no share of a CPU is wrong by more than
// 10⁻¹².
std::int64_t fixed_point(double cpus) {
  return static_cast<std::int64_t>(std::llround(cpus * 0x1.0p40));
}

}  // namespace

CpuShare::CpuShare(const std::vector<double>& cpu, double cpus) {
  for (const double share : cpu) {
    const auto found = std::find_if(classes_.begin(), classes_.end(),
                                    [&](const Class& one) { return one.cpu == share; });
    class_of_.push_back(static_cast<std::size_t>(found - classes_.begin()));
    if (found == classes_.end()) classes_.push_back({.cpu = share, .demand = fixed_point(share)});
  }
  set_cpus(cpus);
}

void CpuShare::set_cpus(double cpus) {
  cpus_ = cpus;
  supply_ = fixed_point(cpus);
  changed_ = true;
}

void CpuShare::restretch(double now) {
  stretch_ = fitting_stretch();
  for (Class& one : classes_) {
    one.clock += (now - since_) * one.speed;
    one.slowness = 1 - one.cpu + one.cpu * stretch_;
    one.speed = 1 / one.slowness;
  }
  since_ = now;
}

double CpuShare::fitting_stretch() const {
  if (demand_ <= supply_) return 1;
  if (classes_.size() == 1) {
    const Class& only = classes_.front();
    return (only.busy * only.cpu / cpus_ - 1 + only.cpu) / only.cpu;
  }
  // Newton's method for 1/use(f) = 1/cpus, which is almost a straight line. Each step squares the
  // error, so after a small step the rest is below rounding.
  double f = stretch_;
  for (int i = 0; i < 30; ++i) {
    const double next = std::max(1.0, newton_step(f));
    const bool found = std::abs(next - f) <= 1e-7 * f;
    f = next;
    if (found) break;
  }
  return f;
}

double CpuShare::newton_step(double f) const {
  double use = 0;
  double slope = 0;
  for (const Class& one : classes_) {
    const double speed = one.cpu / (1 - one.cpu + one.cpu * f);
    const double used = one.busy * speed;
    use += used;
    slope += used * speed;
  }
  return f + (use - cpus_) * use / (cpus_ * slope);
}

}  // namespace forebay::tuner
