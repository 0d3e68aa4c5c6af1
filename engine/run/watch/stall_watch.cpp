#include "engine/run/watch/stall_watch.h"

namespace forebay {

StallWatch::Verdict StallWatch::look(std::uint64_t progress, std::chrono::nanoseconds now) {
  if (progress != progress_) {
    progress_ = progress;
    since_ = now;
    warned_ = false;
    return Verdict::kMoving;
  }
  const auto stalled = stalled_for(now);
  if (stalled >= limits_.fail_after) return Verdict::kFailNow;
  if (stalled < limits_.warn_after) return Verdict::kMoving;
  if (warned_) return Verdict::kStalled;
  warned_ = true;
  return Verdict::kWarnNow;
}

}  // namespace forebay
