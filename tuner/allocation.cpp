#include "tuner/allocation.h"

#include <algorithm>
#include <cmath>

namespace forebay::tuner {
namespace {

/// Scales the wanted actors by `scale`, rounded down, at least one where any are wanted.
void scale_actors(const Allocation& wanted, double scale, Allocation& result) {
  for (std::size_t i = 0; i < wanted.actors.size(); ++i) {
    const double share = std::floor(scale * static_cast<double>(wanted.actors[i]));
    result.actors[i] = std::max(std::min(1U, wanted.actors[i]), static_cast<std::uint32_t>(share));
  }
}

/// Applies the largest scale at which the actors fit beside one item of prefetch; scale 0 (one
/// actor per stage) if even that does not fit.
void shrink_actors(const PipelineDescription& description, const Allocation& wanted,
                   const Bounds& bounds, Allocation& result) {
  double fits = 0;
  double too_many = 1;
  // Forty bisection steps distinguish any two counts of 32 bits.
  for (int round = 0; round < 40; ++round) {
    const double middle = (fits + too_many) / 2;
    scale_actors(wanted, middle, result);
    (within(description, result, bounds) ? fits : too_many) = middle;
  }
  scale_actors(wanted, fits, result);
}

/// Gives remaining actors and bytes, one actor at a time, to the stage that is furthest from its
/// wanted number.
void fill(const PipelineDescription& description, const Allocation& wanted, const Bounds& bounds,
          Allocation& result) {
  const auto may_grow = [&](std::size_t stage) {
    return fits_one_more(description, result, stage, bounds);
  };
  while (const auto stage = neediest(result, wanted, may_grow)) ++result.actors[*stage];
}

}  // namespace

Allocation shaped(const PipelineDescription& description, const Allocation& wanted) {
  Allocation result = wanted;
  result.actors.resize(description.stages.size(), 1);
  for (std::size_t i = 0; i < result.actors.size(); ++i) {
    const StageDescription& stage = description.stages[i];
    result.actors[i] =
        std::clamp(result.actors[i], stage.least_actors, std::max(1U, stage.max_actors));
  }
  result.prefetch = std::clamp(wanted.prefetch, 1U, std::max(1U, description.max_prefetch));
  return result;
}

bool within(const PipelineDescription& description, const Allocation& allocation,
            const Bounds& bounds) {
  if (bounds.actors != 0 && allocation.total_actors() > bounds.actors) return false;
  return worst_case_bytes(description, allocation) <= bounds.bytes;
}

bool fits_one_more(const PipelineDescription& description, const Allocation& allocation,
                   std::size_t stage, const Bounds& bounds) {
  if (bounds.actors != 0 && allocation.total_actors() >= bounds.actors) return false;
  return worst_case_bytes(description, allocation) + description.stages[stage].bytes_per_actor <=
         bounds.bytes;
}

std::uint32_t prefetch_beside(const PipelineDescription& description, Allocation allocation,
                              std::uint32_t wanted, const Bounds& bounds) {
  if (description.prefetch_item_bytes == 0) return wanted;
  allocation.prefetch = 0;
  const std::uint64_t taken = worst_case_bytes(description, allocation);
  if (taken >= bounds.bytes) return 1;
  const std::uint64_t fits = (bounds.bytes - taken) / description.prefetch_item_bytes;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fits, 1, wanted));
}

Allocation fitted(const PipelineDescription& description, const Allocation& wanted,
                  const Bounds& bounds) {
  Allocation result = wanted;
  if (within(description, result, bounds)) return result;
  result.prefetch = 1;
  if (!within(description, result, bounds)) {
    shrink_actors(description, wanted, bounds, result);
    fill(description, wanted, bounds, result);
  }
  result.prefetch = prefetch_beside(description, result, wanted.prefetch, bounds);
  return result;
}

}  // namespace forebay::tuner
