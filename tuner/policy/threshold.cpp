#include "tuner/policy/threshold.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/policy/measured.h"

namespace forebay::tuner {
namespace {

constexpr double kUp = 0.8;
constexpr double kDown = 0.5;
constexpr double kReserved = 0.5;

// Share of its actors' time that a stage worked; NaN if it had no actor time.
double utilisation(const StageObservation& stage) {
  return std::min(1.0, stage.working_seconds / stage.actor_seconds);
}

class Threshold final : public Policy {
 public:
  explicit Threshold(PipelineDescription description) : description_(std::move(description)) {}

  std::string_view name() const override { return "threshold"; }

  Proposal decide(const Observation& seen) override {
    Allocation next = current_allocation_of(description_, seen);
    const std::size_t stages = std::min(next.actors.size(), seen.stages.size());
    for (std::size_t i = 0; i < stages; ++i) {
      if (utilisation(seen.stages[i]) < kDown && next.actors[i] > 1) --next.actors[i];
    }
    for (std::size_t i = stages; i-- > 0;) {
      next.actors[i] +=
          std::min(asked(seen, i, next.actors[i]), room(next, i, cpus_of(seen.limits)));
    }
    next.prefetch = std::max(1U, description_.default_prefetch);
    return {.allocation = next, .reason = "up above 0.8 busy, down below 0.5"};
  }

 private:
  // How many more actors a stage requests.
  static std::uint32_t asked(const Observation& seen, std::size_t i, std::uint32_t actors) {
    const double busy = utilisation(seen.stages[i]);
    const bool queued = i == 0 || seen.stages[i - 1].queue_fill > 0;
    if (!(busy > kUp) || !queued) return 0;
    return std::max(1U, static_cast<std::uint32_t>(std::ceil(actors * (busy / kUp - 1))));
  }

  // How many more actors the stage may have: CPUs that no other stage holds or has reserved.
  std::uint32_t room(const Allocation& next, std::size_t stage, double cpus) const {
    const double reserved = kReserved * cpus / static_cast<double>(next.actors.size());
    double free = cpus;
    for (std::size_t i = 0; i < next.actors.size(); ++i) {
      free -= i == stage ? next.actors[i] : std::max<double>(reserved, next.actors[i]);
    }
    const std::uint32_t most = std::max(1U, description_.stages[stage].max_actors);
    const std::uint32_t own = most - std::min(most, next.actors[stage]);
    return free >= 1 ? std::min(own, static_cast<std::uint32_t>(free)) : 0;
  }

  PipelineDescription description_;
};

}  // namespace

std::unique_ptr<Policy> make_threshold(const PolicyContext& context) {
  return std::make_unique<Threshold>(context.description);
}

}  // namespace forebay::tuner
