#include "tuner/policy/plumber.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tuner/fit.h"
#include "tuner/policy/measured.h"

namespace forebay::tuner {
namespace {

// Weight of older intervals; Plumber itself traces for a minute.
constexpr double kPlumberKept = 0.8;
constexpr double kSameRate = 1e-9;
constexpr double kMost = 1e6;  // Upper bound of actors.

class Plumber final : public Policy {
 public:
  explicit Plumber(PipelineDescription description)
      : description_(std::move(description)), measured_(description_.stages.size(), kPlumberKept) {}

  std::string_view name() const override { return "plumber"; }

  Proposal decide(const Observation& seen) override {
    measured_.add(seen);
    if (!measured_.any_seen()) {
      return {.allocation = current_allocation_of(description_, seen),
              .reason = "nothing traced yet"};
    }
    const double rate = best_rate(cpus_of(seen.limits));
    Allocation plan = one_each(description_);
    for (std::size_t i = 0; i < description_.stages.size(); ++i) {
      plan.actors[i] = parallelism(i, rate);
    }
    return {.allocation = shaped(description_, plan),
            .expected_splits_per_second = std::isfinite(rate) ? rate : 0,
            .reason = "the linear program from measured CPU time"};
  }

 private:
  // max min R_i theta_i with sum theta_i <= cpus and theta_i <= bound_i: every theta_i is rate /
  // R_i, so either the CPUs or the tightest bound limit the rate. Infinite if no stage uses a CPU.
  double best_rate(double cpus) const {
    double cpu_seconds = 0;
    double bound = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < description_.stages.size(); ++i) {
      const double cpu = measured_.cpu(i);
      cpu_seconds += cpu;
      if (cpu <= 0) continue;
      bound = std::min(bound, std::min<double>(cpus, description_.stages[i].max_actors) / cpu);
    }
    return cpu_seconds > 0 ? std::min(bound, cpus / cpu_seconds) : bound;
  }

  // The first stage reads: it needs as many actors as keep that rate in flight, including its waits
  // for disk or network. For all other stages only CPU time counts.
  std::uint32_t parallelism(std::size_t stage, double rate) const {
    const double seconds = stage == 0 ? measured_.service(stage) : measured_.cpu(stage);
    const double actors = std::ceil(rate * seconds * (1 - kSameRate));
    return actors > 1 ? static_cast<std::uint32_t>(std::min(actors, kMost)) : 1;
  }

  PipelineDescription description_;
  Measured measured_;
};

}  // namespace

std::unique_ptr<Policy> make_plumber(const PolicyContext& context) {
  return std::make_unique<Plumber>(context.description);
}

}  // namespace forebay::tuner
