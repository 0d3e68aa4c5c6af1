#include "tuner/compare/shortfall.h"

#include <algorithm>

namespace forebay::tuner {
namespace {

constexpr std::uint64_t kSoon = 10;  // Periods.

/// Whether `periods[at]` is within kSoon periods after the last change before its end; false if
/// there was no change.
bool soon_after_event(const Trace& trace, std::size_t at) {
  const auto next =
      std::lower_bound(trace.events.begin(), trace.events.end(), trace.periods[at].end_seconds);
  if (next == trace.events.begin()) return false;
  const double event = *(next - 1);
  const auto first = std::find_if(trace.periods.begin(), trace.periods.end(),
                                  [event](const Period& each) { return each.end_seconds > event; });
  return at < static_cast<std::size_t>(first - trace.periods.begin()) + kSoon;
}

double& part_of(Shortfall& parts, const Trace& trace, std::size_t at) {
  const Period& period = trace.periods[at];
  if (trace.out_of_memory && period.begin_seconds >= trace.out_of_memory_seconds) {
    return parts.dead;
  }
  if (soon_after_event(trace, at)) return parts.after_events;
  return period.decision <= kSoon ? parts.start : parts.steady;
}

}  // namespace

Shortfall shortfall_of(const Trace& trace) {
  Shortfall parts;
  double possible = 0;
  for (std::size_t at = 0; at < trace.periods.size(); ++at) {
    const Period& period = trace.periods[at];
    if (period.decision == 0) continue;
    const double oracle = oracle_splits(trace, period.begin_seconds, period.end_seconds);
    possible += oracle;
    part_of(parts, trace, at) += oracle - static_cast<double>(period.trained);
  }
  if (possible <= 0) return {};
  for (double* part : {&parts.start, &parts.after_events, &parts.steady, &parts.dead}) {
    *part /= possible;
  }
  return parts;
}

}  // namespace forebay::tuner
