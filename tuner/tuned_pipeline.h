#pragma once

#include <cstdint>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/observation.h"

namespace forebay::tuner {

/// The current allocation and its memory: all that the guard needs to know.
struct CurrentState {
  Limits limits{};
  std::vector<std::uint32_t> actors{};   ///< Requested; leaving actors not counted.
  std::vector<std::uint32_t> leaving{};  ///< Asked to stop, not ended yet.
  std::uint32_t prefetch = 1;            ///< Limit of waiting items.
  std::uint32_t prefetched = 0;    ///< Waiting items; may exceed the limit for a while after a cut.
  std::uint64_t memory_bytes = 0;  ///< In use, by the pipeline's own account.
  /// Bytes that count against the limit: the account, or the kernel's number if larger; 0: not
  /// known.
  std::uint64_t resident_bytes = 0;
  std::uint64_t process_bytes = 0;  ///< The process as the kernel sees it; 0: not known.
};

/// The controlled system: a tuner observes it and sets its allocation.
///
/// Implemented by the simulator, the emulated machine and a running job. Belongs to the tuner's
/// thread.
class TunedPipeline {
 public:
  virtual ~TunedPipeline() = default;

  virtual const PipelineDescription& description() const = 0;
  /// Called before each step and decision: takes a sample for the next observation, and lets the
  /// pipeline's memory follow what the process uses.
  virtual void tick() {}
  virtual CurrentState current() const = 0;
  /// Returns the observation since the last call.
  virtual Observation observe() = 0;
  /// Resizes towards `allocation`: actors are added at once, and removed when they finish their
  /// split.
  virtual void apply(const Allocation& allocation) = 0;
};

}  // namespace forebay::tuner
