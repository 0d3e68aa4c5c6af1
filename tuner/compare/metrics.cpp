#include "tuner/compare/metrics.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

namespace forebay::tuner {
namespace {

constexpr std::uint64_t kDecisionsLeftOut = 30;
constexpr std::size_t kFinalPeriods = 10;
constexpr std::size_t kWindow = 3;
constexpr double kReached = 0.95 * (1 - 1e-12);  // Sums of doubles may end slightly below.

using Periods = std::span<const Period>;

Periods from_decision(const Trace& trace, std::uint64_t decision) {
  return {std::ranges::lower_bound(trace.periods, decision, {}, &Period::decision),
          trace.periods.end()};
}

Periods last_of(Periods periods, std::size_t count) {
  return periods.last(std::min(count, periods.size()));
}

double ratio_of(const Trace& trace, Periods periods) {
  if (periods.empty()) return 0;
  double trained = 0;
  for (const Period& period : periods) trained += static_cast<double>(period.trained);
  const double possible =
      oracle_splits(trace, periods.front().begin_seconds, periods.back().end_seconds);
  return possible > 0 ? trained / possible : 0;
}

double next_change(const Trace& trace, double after_seconds) {
  const auto next = std::upper_bound(trace.events.begin(), trace.events.end(), after_seconds);
  return next == trace.events.end() ? std::numeric_limits<double>::infinity() : *next;
}

/// The number of the period in `periods`, counted from 1, that begins the first good window;
/// windows end before the next change.
std::optional<std::uint64_t> count_to_95(const Trace& trace, Periods periods) {
  if (periods.empty()) return std::nullopt;
  const double end = next_change(trace, periods.front().begin_seconds);
  for (std::size_t k = 0; k + kWindow <= periods.size(); ++k) {
    const Periods window = periods.subspan(k, kWindow);
    if (window.back().end_seconds > end) return std::nullopt;
    if (ratio_of(trace, window) >= kReached) return k + 1;
  }
  return std::nullopt;
}

Periods alive(const Trace& trace, Periods periods) {
  if (!trace.out_of_memory) return periods;
  return {periods.begin(), std::ranges::lower_bound(periods, trace.out_of_memory_seconds, {},
                                                    &Period::begin_seconds)};
}

double mean_cpus(Periods periods) {
  double seconds = 0;
  double busy = 0;
  for (const Period& period : periods) {
    const double length = period.end_seconds - period.begin_seconds;
    seconds += length;
    busy += period.cpus_busy * length;
  }
  return seconds > 0 ? busy / seconds : 0;
}

double mean_actors(Periods periods) {
  if (periods.empty()) return 0;
  double sum = 0;
  for (const Period& period : periods) {
    sum += std::accumulate(period.actors.begin(), period.actors.end(), 0.0);
  }
  return sum / static_cast<double>(periods.size());
}

std::vector<Recovery> recoveries_of(const Trace& trace, Periods decided) {
  std::vector<Recovery> recoveries;
  for (const double at : trace.events) {
    const auto first = std::ranges::lower_bound(decided, at, {}, &Period::begin_seconds);
    if (first == decided.end()) break;
    recoveries.push_back({at, count_to_95(trace, {first, decided.end()})});
  }
  return recoveries;
}

constexpr std::uint64_t kSoon = 10;  // Periods.

/// Whether `periods[at]` is within kSoon periods after the last change before its end; false if
/// there was no change.
bool soon_after_event(const Trace& trace, std::size_t at) {
  const auto next =
      std::lower_bound(trace.events.begin(), trace.events.end(), trace.periods[at].end_seconds);
  if (next == trace.events.begin()) return false;
  const double event = *(next - 1);
  const auto first = std::ranges::upper_bound(trace.periods, event, {}, &Period::end_seconds);
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

RunFigures figures_of(const Trace& trace) {
  const Periods decided = from_decision(trace, 1);
  const Periods late = from_decision(trace, kDecisionsLeftOut + 1);
  const Periods lived = alive(trace, trace.periods);
  RunFigures figures;
  figures.ratio_overall = ratio_of(trace, decided);
  if (!late.empty()) figures.ratio_after_30 = ratio_of(trace, late);
  figures.ratio_final = ratio_of(trace, last_of(decided, kFinalPeriods));
  figures.decisions_to_95 = count_to_95(trace, decided);
  figures.recoveries = recoveries_of(trace, decided);
  figures.cpus_used = mean_cpus(alive(trace, decided));
  figures.actors = mean_actors(last_of(lived, kFinalPeriods));
  for (const Period& period : trace.periods) {
    figures.memory_peak = std::max(figures.memory_peak, period.memory_peak);
  }
  if (!trace.periods.empty()) {
    figures.actors_fewest = oracle_at(trace, trace.periods.back().begin_seconds).actors;
  }
  return figures;
}

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
