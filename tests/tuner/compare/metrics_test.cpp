#include "tuner/compare/metrics.h"

#include <vector>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;
using Number = std::optional<std::uint64_t>;

/// Periods of 2 s: `trained[0]` before the first decision, `trained[k]` after decision k. The
/// oracle trains 10 splits a second, 20 a period.
Trace trace_of(const std::vector<std::uint64_t>& trained) {
  Trace trace;
  trace.oracle = {{.from_seconds = 0, .splits_per_second = 10, .actors = 7, .memory_bytes = 100}};
  for (std::size_t k = 0; k < trained.size(); ++k) {
    const double begin = 2.0 * static_cast<double>(k);
    trace.periods.push_back({.decision = k,
                             .begin_seconds = begin,
                             .end_seconds = begin + 2,
                             .trained = trained[k],
                             .actors = {1, 2},
                             .prefetch = 1,
                             .cpus_busy = 1,
                             .memory_bytes = 10,
                             .memory_peak = 20});
  }
  return trace;
}

TEST_CASE("the overall ratio leaves out the period before the first decision", "[tuner][compare]") {
  const RunFigures figures = figures_of(trace_of({0, 10, 20, 18}));
  CHECK(figures.ratio_overall == Approx(48.0 / 60));  // 10 + 20 + 18 of 3 periods of 20
}

TEST_CASE("the ratio after 30 decisions begins with the period of decision 31",
          "[tuner][compare]") {
  std::vector<std::uint64_t> trained(34, 0);  // decisions 1 … 33
  trained[30] = 20;                           // followed decision 30: left out
  trained[31] = 20;
  trained[33] = 10;
  CHECK(*figures_of(trace_of(trained)).ratio_after_30 == Approx(30.0 / 60));
  CHECK_FALSE(figures_of(trace_of(std::vector<std::uint64_t>(31, 20))).ratio_after_30);
}

TEST_CASE("the final ratio is that of the last ten periods", "[tuner][compare]") {
  std::vector<std::uint64_t> trained(31, 0);
  trained[20] = 20;  // the eleventh from the end
  trained[21] = 20;
  trained[30] = 15;
  CHECK(figures_of(trace_of(trained)).ratio_final == Approx(35.0 / 200));
  CHECK(figures_of(trace_of({20, 20, 10})).ratio_final == Approx(30.0 / 40));  // there are only two
}

TEST_CASE("the count to 95 % looks forward over three periods together", "[tuner][compare]") {
  // 3 periods of the oracle are 60 splits, 95 % of them 57.
  CHECK(figures_of(trace_of({0, 20, 20, 17})).decisions_to_95 == Number(1));
  CHECK(figures_of(trace_of({0, 20, 20, 16, 20, 20, 17})).decisions_to_95 == Number(4));
  CHECK(figures_of(trace_of({20, 16, 20, 20, 20})).decisions_to_95 == Number(2));
  CHECK(figures_of(trace_of({20, 20, 20})).decisions_to_95 ==
        Number());  // two periods are no three
  CHECK(figures_of(trace_of({20, 18, 18, 20, 18, 18})).decisions_to_95 == Number());  // 56, 56, 56
}

TEST_CASE("time under an event counts against the oracle of that moment, within a period too",
          "[tuner][compare]") {
  Trace trace = trace_of({20, 20, 12, 4, 4});
  trace.events = {5};  // in the middle of the second decision's period
  trace.oracle.push_back(
      {.from_seconds = 5, .splits_per_second = 2, .actors = 3, .memory_bytes = 100});
  // Of 2 s … 10 s: 3 s at 10 and 5 s at 2 splits/s.
  CHECK(oracle_splits(trace, 2, 10) == Approx(40));
  const RunFigures figures = figures_of(trace);
  CHECK(figures.ratio_overall == Approx(40.0 / 40));
  CHECK(figures.actors_fewest == 3);
  CHECK(oracle_at(trace, 4.99).actors == 7);
  CHECK(oracle_at(trace, 5).actors == 3);
}

TEST_CASE("after a change counting starts with the first decision at or after it",
          "[tuner][compare]") {
  // Decision 5 is at 10 s, the moment of the change; it and decision 6 see poor periods.
  Trace trace = trace_of({20, 20, 20, 20, 20, 5, 10, 20, 20, 20});
  trace.events = {10};
  trace.oracle.push_back({.from_seconds = 10, .splits_per_second = 10, .actors = 7});
  RunFigures figures = figures_of(trace);
  CHECK(figures.decisions_to_95 == Number(1));
  REQUIRE(figures.recoveries.size() == 1);
  CHECK(figures.recoveries[0].at_seconds == 10);
  CHECK(figures.recoveries[0].decisions_to_95 == Number(3));  // 10, 12, then 14 s … 20 s

  trace.events = {10.5};  // now decision 6, at 12 s, is the first
  figures = figures_of(trace);
  CHECK(figures.recoveries[0].decisions_to_95 == Number(2));
}

TEST_CASE("a rate that is reached only after the next change counts as not reached",
          "[tuner][compare]") {
  Trace trace = trace_of({20, 0, 0, 20, 20, 20, 0, 20, 20, 20});
  trace.events = {8, 11, 30};
  const RunFigures figures = figures_of(trace);
  CHECK(figures.decisions_to_95 == Number());  // 6 s … 12 s would do, but 8 s comes in between
  REQUIRE(figures.recoveries.size() == 2);     // the run ends at 20 s
  CHECK(figures.recoveries[0].decisions_to_95 == Number());
  CHECK(figures.recoveries[1].decisions_to_95 == Number(2));
}

TEST_CASE("after running out of memory a run counts 0 and its actors are those it had",
          "[tuner][compare]") {
  Trace trace = trace_of({20, 20, 20, 0, 0});
  for (std::size_t k = 3; k < 5; ++k) {
    trace.periods[k].actors = {0, 0};
    trace.periods[k].cpus_busy = 0;
  }
  trace.periods[2].memory_peak = 101;
  trace.out_of_memory = true;
  trace.out_of_memory_seconds = 6;
  const RunFigures figures = figures_of(trace);
  CHECK(figures.ratio_overall == Approx(40.0 / 80));
  CHECK(figures.actors == Approx(3));
  CHECK(figures.cpus_used == Approx(1));
  CHECK(figures.memory_peak == 101);
}

TEST_CASE("CPUs are a mean over time and actors one over the last ten periods",
          "[tuner][compare]") {
  Trace trace = trace_of(std::vector<std::uint64_t>(13, 20));
  trace.periods[0].cpus_busy = 100;  // before the first decision
  trace.periods[1].cpus_busy = 13;
  trace.periods[2].actors = {50, 50};  // the eleventh from the end
  trace.periods[12].actors = {10, 3};
  const RunFigures figures = figures_of(trace);
  CHECK(figures.cpus_used == Approx((13.0 + 11) / 12));
  CHECK(figures.actors == Approx((9 * 3 + 13) / 10.0));
}

TEST_CASE("a run that ended before its first decision has no figures", "[tuner][compare]") {
  const RunFigures figures = figures_of(trace_of({20}));
  CHECK(figures.ratio_overall == 0);
  CHECK(figures.decisions_to_95 == Number());
  CHECK(figures.cpus_used == 0);
}

}  // namespace
}  // namespace forebay::tuner
