#pragma once

#include <cstdint>

#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// The moves of Exploration from an allocation that an observation shows, as pure functions.

/// The share of a stage's work from which it holds the others up, and below which it does not.
inline constexpr double kAlwaysBusy = 0.9;
inline constexpr double kHalfBusy = 0.6;

/// The largest share of its time that any stage works.
double busiest(const Observation& seen);

/// Whether two allocations differ so little that a rate is that of both.
bool alike(const Allocation& a, const Allocation& b);

/// With no more actors of each stage than it would use at `times` the rate, and some room.
Allocation without_idle(Allocation allocation, const Observation& seen, double times);

/// The geometric mean of two allocations' actors, and as much of `prefetch` as fits beside them.
Allocation halfway(const PipelineDescription& description, const Allocation& one,
                   const Allocation& other, std::uint32_t prefetch, const Limits& limits);

/// With two or, where no stage is busy, four times the prefetch; in a trade actors that wait leave
/// their memory to it.
Allocation wider(const PipelineDescription& description, const Observation& seen, bool trade);

/// With `times` the actors in every stage that is busy for at least such a share of its time; a
/// prefetch that took the memory of actors gives it back.
Allocation grown(const PipelineDescription& description, const Observation& seen, double least_busy,
                 double times);

}  // namespace forebay::tuner
