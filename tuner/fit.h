#pragma once

#include <cstdint>

#include "tuner/allocation.h"

namespace forebay::tuner {

/// What an allocation has to stay within. A value.
struct Bounds {
  std::uint32_t actors = 0;  ///< Over all stages; 0: no bound.
  std::uint64_t bytes = 0;   ///< Of worst_case_bytes().
};

/// `wanted` as an allocation of this layout: an entry for every stage (1 where it says nothing),
/// each within 1 and the stage's own bound, a prefetch within 1 and the largest.
Allocation shaped(const PipelineDescription& description, const Allocation& wanted);

/// Whether a shaped allocation is within the bounds.
bool within(const PipelineDescription& description, const Allocation& allocation,
            const Bounds& bounds);

/// The most of a shaped allocation that is within the bounds: prefetch is cut first, then actors in
/// proportion (the largest scale at which they fit, rounded down), and then room that is left goes
/// to the stage furthest from what was wanted, at last to prefetch. One actor a stage and one item
/// even where these do not fit.
Allocation fitted(const PipelineDescription& description, const Allocation& wanted,
                  const Bounds& bounds);

}  // namespace forebay::tuner
