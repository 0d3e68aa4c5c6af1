#pragma once

#include <cstdint>
#include <vector>

#include "tuner/sim/memory_account.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay::tuner {

/// What the pools of a pipeline hold at one moment. By stage.
struct Census {
  std::vector<std::uint32_t> actors;   ///< Alive, those told to go included,
  std::vector<std::uint32_t> leaving;  ///< and of those, told to go.
  std::vector<std::uint32_t> queued;   ///< Splits behind the stage; behind the last: prefetched.
  std::uint32_t prefetch = 1;          ///< Allowed to wait there.
};

/// Keeps account of a pipeline's memory and queues over time, from one census to the next.
///
/// Memory is that of the model (base, actors, queued splits), held against the limit as
/// MemoryAccount does. Plain state; times in seconds since the start.
class PipelineAccounting {
 public:
  explicit PipelineAccounting(const PipelineModel& model);

  /// What is so from `now` on, with this much memory granted.
  void note(double now, const Census& census, std::uint64_t memory_limit);
  /// The trainer asked and nothing was there.
  void note_empty() { ++interval_.prefetch_empty; }

  struct Interval {
    double seconds = 0;
    std::vector<double> queue_fill;    ///< Mean share filled, by stage; the last: of the prefetch.
    std::uint64_t prefetch_full = 0;   ///< How often it became full,
    std::uint64_t prefetch_empty = 0;  ///< and empty.
    std::uint64_t memory_peak = 0;
  };
  /// What happened since the last call, up to the last note.
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
  std::vector<std::uint32_t> exempt_;  // of those told to go before a lower limit came into force
  Census census_;
  double noted_ = 0;
  Interval interval_;  // fills are integrals until taken
};

}  // namespace forebay::tuner
