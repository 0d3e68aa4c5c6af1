#pragma once

#include <cstdint>

#include "tuner/allocation.h"

namespace forebay::tuner {

/// The bounds of an allocation. A value.
struct Bounds {
  std::uint32_t actors = 0;  ///< Over all stages; 0: no bound.
  std::uint64_t bytes = 0;   ///< Of worst_case_bytes().
};

/// Returns `wanted` as an allocation of this pipeline: an entry for every stage (1 if `wanted` has
/// none), each clamped to 1 and the stage's own bound, and prefetch clamped to 1 and the largest.
Allocation shaped(const PipelineDescription& description, const Allocation& wanted);

/// Whether a shaped allocation is within the bounds.
bool within(const PipelineDescription& description, const Allocation& allocation,
            const Bounds& bounds);

/// The most of a shaped allocation that is within the bounds: prefetch is cut first, then actors in
/// proportion (the largest scale at which they fit, rounded down). Bytes and actors that are left
/// go to the stage furthest from its wanted number, and at last to prefetch. Returns at least one
/// actor per stage and one item, even if these do not fit.
Allocation fitted(const PipelineDescription& description, const Allocation& wanted,
                  const Bounds& bounds);

}  // namespace forebay::tuner
