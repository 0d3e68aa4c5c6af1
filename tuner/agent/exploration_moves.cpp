#include "tuner/agent/exploration_moves.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace forebay::tuner {
namespace {

constexpr double kRoom = 1.2;        // times the actors that an idle stage uses, that stay
constexpr double kFewOfMany = 0.08;  // of the actors, that change no rate

}  // namespace

double busiest(const Observation& seen) {
  double most = 0;
  for (const StageObservation& stage : seen.stages) most = std::max(most, stage.busy_share());
  return most;
}

bool alike(const Allocation& a, const Allocation& b) {
  if (a.prefetch != b.prefetch || a.actors.size() != b.actors.size()) return false;
  for (std::size_t i = 0; i < a.actors.size(); ++i) {
    const double more = std::max(a.actors[i], b.actors[i]);
    if (more - std::min(a.actors[i], b.actors[i]) > kFewOfMany * more) return false;
  }
  return true;
}

Allocation without_idle(Allocation allocation, const Observation& seen, double times) {
  for (std::size_t i = 0; i < allocation.actors.size(); ++i) {
    const double most = std::max(1U, allocation.actors[i]);
    const double used = std::ceil(times * kRoom * seen.stages[i].busy_share() * most);
    allocation.actors[i] = static_cast<std::uint32_t>(std::clamp(used, 1.0, most));
  }
  return allocation;
}

Allocation halfway(const PipelineDescription& description, const Allocation& one,
                   const Allocation& other, std::uint32_t prefetch, const Limits& limits) {
  Allocation next = one;
  for (std::size_t i = 0; i < next.actors.size(); ++i) {
    const double both = static_cast<double>(one.actors[i]) * other.actors[i];
    next.actors[i] = static_cast<std::uint32_t>(std::ceil(std::sqrt(both)));
  }
  next.prefetch = prefetch_beside(description, next, std::max(one.prefetch, prefetch),
                                  {.bytes = limits.memory_bytes});
  return next;
}

Allocation wider(const PipelineDescription& description, const Observation& seen, bool trade) {
  const std::uint32_t factor = busiest(seen) < kHalfBusy ? 4 : 2;
  const std::uint32_t most = std::max(1U, description.max_prefetch);
  const std::uint32_t wanted = std::min(most, std::clamp(seen.prefetch, 1U, most) * factor);
  Allocation next = seen.allocation();
  if (trade) next = without_idle(std::move(next), seen, factor);
  next.prefetch = prefetch_beside(description, next, wanted, {.bytes = seen.limits.memory_bytes});
  return next;
}

Allocation grown(const PipelineDescription& description, const Observation& seen, double least_busy,
                 double times) {
  Allocation next = seen.allocation();
  for (std::size_t i = 0; i < next.actors.size(); ++i) {
    if (seen.stages[i].busy_share() < least_busy) continue;
    const double most = std::max(1U, description.stages[i].max_actors);
    next.actors[i] = static_cast<std::uint32_t>(std::min(most, std::ceil(times * next.actors[i])));
  }
  next.prefetch =
      prefetch_beside(description, next, next.prefetch, {.bytes = seen.limits.memory_bytes});
  return next;
}

}  // namespace forebay::tuner
