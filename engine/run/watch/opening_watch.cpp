#include "engine/run/watch/opening_watch.h"

#include <cstdint>

#include "core/base/text/seconds.h"
#include "engine/job/quantity.h"

namespace forebay {

void OpeningWatch::look(std::chrono::nanoseconds now) {
  if (failed_) return;
  // A store that sends a byte now and then holds the run up, too.
  constexpr std::uint64_t kStep = 64 << 10;
  const std::uint64_t steps = options_.counts->requests() + options_.counts->bytes() / kStep;
  const auto verdict = stalls_.look(steps, now);
  if (verdict == StallWatch::Verdict::kWarnNow && options_.say) options_.say(progress(now));
  if (verdict != StallWatch::Verdict::kFailNow) return;
  failure_ = progress(now);
  failed_ = true;
}

Error OpeningWatch::error() const { return {Code::kTimeout, failure_}; }

std::string OpeningWatch::progress(std::chrono::nanoseconds now) const {
  return "no progress for " + format_whole_seconds(stalls_.stalled_for(now)) +
         " while the dataset is opened: " + std::to_string(options_.counts->requests()) +
         " requests and " + format_size(options_.counts->bytes()) +
         " were answered before; the file system or store holds the next one up";
}

}  // namespace forebay
