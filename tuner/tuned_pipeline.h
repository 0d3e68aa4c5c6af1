#pragma once

#include <cstdint>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/observation.h"

namespace forebay::tuner {

/// What is allocated at this moment and what it takes: all that the guard needs to know.
struct CurrentState {
  Limits limits{};
  std::vector<std::uint32_t> actors{};   ///< Asked for; those told to go not counted.
  std::vector<std::uint32_t> leaving{};  ///< Told to go, not gone.
  std::uint32_t prefetch = 1;            ///< Allowed to wait,
  std::uint32_t prefetched = 0;          ///< and waiting; may be more for a while after a cut.
  std::uint64_t memory_bytes = 0;        ///< In use, by the pipeline's own account.
  /// What is taken off the limit: the account, or more where the kernel sees more; 0: not known.
  std::uint64_t resident_bytes = 0;
  std::uint64_t process_bytes = 0;  ///< The process as the kernel sees it; 0: not known.
};

/// The controlled system: what a tuner watches and turns.
///
/// The simulator, the emulated machine and a running job are each one. Belongs to the tuner's
/// thread.
class TunedPipeline {
 public:
  virtual ~TunedPipeline() = default;

  virtual const PipelineDescription& description() const = 0;
  virtual CurrentState current() const = 0;
  /// What happened since the last call.
  virtual Observation observe() = 0;
  /// Grows and shrinks towards `allocation`: actors come at once, go when they finish their split.
  virtual void apply(const Allocation& allocation) = 0;
};

}  // namespace forebay::tuner
