#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "actors/pipeline.h"

namespace forebay {

/// Notices that a run makes no progress.
///
/// Asked from time to time with a count that grows with any progress (splits through any stage,
/// batches taken); time comes from outside. Belongs to one thread.
class StallWatch {
 public:
  struct Limits {
    std::chrono::nanoseconds warn_after{0};  ///< `run.stall_after`
    std::chrono::nanoseconds fail_after{0};  ///< `run.stall_fail`
  };
  enum class Verdict : std::uint8_t { kMoving, kStalled, kWarnNow, kFailNow };

  StallWatch(Limits limits, std::chrono::nanoseconds now) : limits_(limits), since_(now) {}

  /// kWarnNow once a stall, then kStalled until it moves or kFailNow.
  Verdict look(std::uint64_t progress, std::chrono::nanoseconds now);

  std::chrono::nanoseconds stalled_for(std::chrono::nanoseconds now) const { return now - since_; }

 private:
  const Limits limits_;
  std::chrono::nanoseconds since_;
  std::uint64_t progress_ = 0;
  bool warned_ = false;
};

/// What everything is waiting for: the stage that holds the oldest split, how long, and why; one
/// line. `trainer_is_busy`: the trainer has a batch in hand rather than waiting for one.
std::string describe_stall(const PipelineStats& stats, bool trainer_is_busy,
                           std::chrono::nanoseconds now);

/// A count that grows with every split through any stage and every batch taken.
std::uint64_t progress_of(const PipelineStats& stats, std::uint64_t batches_taken);

}  // namespace forebay
