#pragma once

#include <cstdint>
#include <vector>

#include "tuner/sim/memory_account.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay::tuner {

/// The contents of a pipeline's pools at one moment, by stage.
struct Census {
  std::vector<std::uint32_t> actors;   ///< Alive, including those that are leaving.
  std::vector<std::uint32_t> leaving;  ///< Asked to stop, still alive.
  std::vector<std::uint32_t> queued;   ///< Splits behind the stage; the last: prefetched.
  std::uint32_t prefetch = 1;          ///< Limit of prefetched splits.
};

/// Accounts for a pipeline's memory and queues over time, from one census to the next.
///
/// Memory follows the model (base, actors, queued splits) and is compared with the limit by
/// MemoryAccount. Plain state; times in seconds since the start.
class PipelineAccounting {
 public:
  explicit PipelineAccounting(const PipelineModel& model);

  /// Records the state from `now` on, with `memory_limit` bytes granted.
  void note(double now, const Census& census, std::uint64_t memory_limit);
  /// Records that the trainer asked and the prefetch was empty.
  void note_empty() { ++interval_.prefetch_empty; }

  struct Interval {
    double seconds = 0;
    std::vector<double> queue_fill;    ///< Mean share filled, by stage; the last: of the prefetch.
    std::uint64_t prefetch_full = 0;   ///< How often it became full.
    std::uint64_t prefetch_empty = 0;  ///< How often it was empty.
    std::uint64_t memory_peak = 0;
  };
  /// Returns the sums since the last call, up to the last note.
  Interval take();

  bool out_of_memory() const { return memory_.exceeded(); }
  std::uint64_t memory_bytes() const { return memory_.used(); }
  std::uint64_t memory_peak() const { return memory_.peak_ever(); }

 private:
  std::uint64_t bytes_in(const Census& census) const;
  void note_memory(double now, const Census& census, std::uint64_t limit);
  std::uint64_t leaving_bytes(const Census& census) const;
  double fill_of(std::size_t stage) const;

  const PipelineModel model_;
  MemoryAccount memory_;
  std::vector<std::uint32_t> exempt_;  // leaving actors from before a lower limit came into force
  Census census_;
  double noted_ = 0;
  Interval interval_;  // fills are integrals until take()
};

}  // namespace forebay::tuner
