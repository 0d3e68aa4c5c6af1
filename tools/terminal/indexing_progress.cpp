#include "tools/terminal/indexing_progress.h"

#include <algorithm>

#include "engine/job/quantity.h"

namespace forebay {

std::optional<std::string> IndexingProgress::line(std::uint64_t done, std::uint64_t total,
                                                  std::chrono::nanoseconds now) {
  std::int64_t last = last_ns_.load();
  if (now - std::chrono::nanoseconds(last) < kPeriod) return std::nullopt;
  // If several threads find that a line is due, one of them gets it.
  if (!last_ns_.compare_exchange_strong(last, now.count())) return std::nullopt;
  if (done == 0 || total == 0) return "indexing " + format_size(total);
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const std::chrono::duration<double> spent = now - began_;
  const auto left = std::chrono::duration_cast<std::chrono::seconds>(spent * ((1 - share) / share));
  return "indexed " + format_size(done) + " of " + format_size(total) + " (" +
         std::to_string(static_cast<int>(share * 100)) + " %), " + format_duration(left) + " left";
}

}  // namespace forebay
