#include <vector>

#include "tuner/compare/metrics.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

/// As many periods of 2 s, in which the oracle trains 20 splits and the run 10.
Trace half_as_good(std::size_t periods) {
  Trace trace;
  trace.oracle = {{.from_seconds = 0, .splits_per_second = 10, .actors = 7, .memory_bytes = 100}};
  for (std::size_t k = 0; k < periods; ++k) {
    Period& period = trace.periods.emplace_back();
    period.decision = k;
    period.begin_seconds = 2.0 * static_cast<double>(k);
    period.end_seconds = period.begin_seconds + 2;
    period.trained = 10;
  }
  return trace;
}

double in_all(const Shortfall& parts) {
  return parts.start + parts.after_events + parts.steady + parts.dead;
}

TEST_CASE("losses at the start, after changes and in between are counted apart",
          "[tuner][compare]") {
  Trace trace = half_as_good(41);  // decisions 1 … 40
  Shortfall parts = shortfall_of(trace);
  CHECK(parts.start == Approx(10 * 10.0 / 800));
  CHECK(parts.steady == Approx(30 * 10.0 / 800));
  CHECK(parts.after_events == 0);

  trace.events = {41};  // in the period 40 s … 42 s, decision 20's
  parts = shortfall_of(trace);
  CHECK(parts.after_events == Approx(10 * 10.0 / 800));
  CHECK(parts.steady == Approx(20 * 10.0 / 800));

  trace.events = {42};  // at decision 21: its period is the first
  trace.periods[20].trained = 20;
  trace.periods[31].trained = 20;
  parts = shortfall_of(trace);
  CHECK(parts.after_events == Approx(10 * 10.0 / 800));
  CHECK(parts.steady == Approx(18 * 10.0 / 800));
  CHECK(in_all(parts) == Approx(1 - figures_of(trace).ratio_overall));
}

TEST_CASE("losses after a run's death are counted apart", "[tuner][compare]") {
  Trace trace = half_as_good(21);
  trace.out_of_memory = true;
  trace.out_of_memory_seconds = 31;
  for (std::size_t k = 16; k < 21; ++k) trace.periods[k].trained = 0;
  const Shortfall parts = shortfall_of(trace);
  CHECK(parts.dead == Approx(5 * 20.0 / 400));
  CHECK(parts.steady == Approx(5 * 10.0 / 400));
  CHECK(in_all(parts) == Approx(1 - figures_of(trace).ratio_overall));
}

}  // namespace
}  // namespace forebay::tuner
