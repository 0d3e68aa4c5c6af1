#include "tuner/compare/summary.h"

#include <vector>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;
using Numbers = std::vector<std::optional<std::uint64_t>>;

ComparedRun run_of(const std::string& policy, double ratio, std::optional<std::uint64_t> reached) {
  ComparedRun run;
  run.pipeline = "p";
  run.policy = policy;
  run.decisions = 60;
  run.memory_limit = 200;
  run.figures.ratio_overall = ratio;
  run.figures.ratio_after_30 = ratio / 2;
  run.figures.decisions_to_95 = reached;
  run.figures.actors = 12;
  run.figures.actors_fewest = 8;
  run.figures.memory_peak = 100;
  run.record.seconds_per_decision = 0.001;
  return run;
}

TEST_CASE("a percentile lies between two values by distance", "[tuner][compare]") {
  std::vector<double> values;
  for (int i = 100; i >= 0; --i) values.push_back(i);
  const Distribution all = distribution_of(values);
  CHECK(all.mean == Approx(50));
  CHECK(all.median == Approx(50));
  CHECK(all.p5 == Approx(5));
  CHECK(distribution_of({1, 2}).p5 == Approx(1.05));
  CHECK(distribution_of({7}).p5 == 7);
  CHECK(distribution_of({}).mean == 0);
}

TEST_CASE("never counts as later than any number", "[tuner][compare]") {
  CHECK(median_of_reached(Numbers{5, std::nullopt, 2}) == 5.0);
  CHECK(median_of_reached(Numbers{5, std::nullopt, std::nullopt}) == std::nullopt);
  CHECK(median_of_reached(Numbers{9, 3}) == 3.0);
  CHECK(median_of_reached(Numbers{}) == std::nullopt);
}

TEST_CASE("a policy whose runs all end before decision 31 has no figures after 30",
          "[tuner][compare]") {
  std::vector<ComparedRun> runs = {run_of("max", 0.5, 1), run_of("max", 0.7, 1)};
  runs[0].figures.ratio_after_30.reset();
  CHECK(summarize(runs)[0].ratio_after_30->mean == Approx(0.35));  // of the other run alone
  runs[1].figures.ratio_after_30.reset();
  CHECK_FALSE(summarize(runs)[0].ratio_after_30);
}

TEST_CASE("a summary has a line a policy, in the order they were run", "[tuner][compare]") {
  std::vector<ComparedRun> runs = {run_of("max", 0.5, std::nullopt), run_of("intune", 0.9, 3),
                                   run_of("max", 0.7, 8)};
  runs[0].out_of_memory = true;
  runs[0].figures.memory_peak = 220;
  runs[1].figures.recoveries = {{300, 2}, {600, std::nullopt}, {900, 4}};
  const auto summaries = summarize(runs);
  REQUIRE(summaries.size() == 2);
  CHECK(summaries[0].policy == "max");
  CHECK(summaries[0].runs == 2);
  CHECK(summaries[0].ratio_overall.mean == Approx(0.6));
  CHECK(summaries[0].ratio_after_30->mean == Approx(0.3));
  CHECK(summaries[0].out_of_memory == 1);
  CHECK(summaries[0].never_95 == 1);
  CHECK(summaries[0].memory_share == Approx(0.8));  // of 1.1 and 0.5
  CHECK(summaries[0].memory_share_most == Approx(1.1));
  CHECK(summaries[0].actors_over_fewest == Approx(1.5));
  CHECK(summaries[1].recoveries == 3);
  CHECK(summaries[1].never_recovered == 1);
  CHECK(summaries[1].recovery_decisions == 4.0);
  CHECK(summaries[1].seconds_per_decision == Approx(0.001));
}

}  // namespace
}  // namespace forebay::tuner
