#pragma once

#include <chrono>
#include <cstdint>

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

  /// Begins to measure anew: nothing has to move now.
  void rest(std::chrono::nanoseconds now) {
    since_ = now;
    warned_ = false;
  }

  std::chrono::nanoseconds stalled_for(std::chrono::nanoseconds now) const { return now - since_; }

 private:
  const Limits limits_;
  std::chrono::nanoseconds since_;
  std::uint64_t progress_ = 0;
  bool warned_ = false;
};

}  // namespace forebay
