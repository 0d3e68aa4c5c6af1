#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "actors/pipeline.h"

namespace forebay {

/// Detects that a run makes no progress.
///
/// Called now and then with a count that grows with any progress (splits through any stage, batches
/// taken); time comes from outside. Belongs to one thread.
class StallWatch {
 public:
  struct Limits {
    std::chrono::nanoseconds warn_after{0};  ///< `run.stall_after`
    std::chrono::nanoseconds fail_after{0};  ///< `run.stall_fail`
  };
  enum class Verdict : std::uint8_t { kMoving, kStalled, kWarnNow, kFailNow };

  StallWatch(Limits limits, std::chrono::nanoseconds now) : limits_(limits), since_(now) {}

  /// Returns kWarnNow once for each stall, then kStalled until there is progress or kFailNow.
  Verdict look(std::uint64_t progress, std::chrono::nanoseconds now);

  std::chrono::nanoseconds stalled_for(std::chrono::nanoseconds now) const { return now - since_; }

 private:
  const Limits limits_;
  std::chrono::nanoseconds since_;
  std::uint64_t progress_ = 0;
  bool warned_ = false;
};

/// Returns one line on what the run waits for: the stage that holds the oldest split, how long, and
/// why. `trainer_is_busy`: the trainer is processing a batch instead of waiting for one.
std::string describe_stall(const PipelineStats& stats, bool trainer_is_busy,
                           std::chrono::nanoseconds now);

/// Returns a count that grows with every split through any stage and every batch taken.
std::uint64_t progress_of(const PipelineStats& stats, std::uint64_t batches_taken);

}  // namespace forebay
