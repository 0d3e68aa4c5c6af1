#include "tuner/compare/gap.h"

#include <vector>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

/// Two policies on one pipeline, equal except for the figures that a test changes.
struct Duel {
  PipelineModel model;
  std::vector<ComparedRun> runs;

  Duel() {
    model.name = "p";
    model.stages.resize(2);
    add("intune", 0.90);
    add("greedy", 0.95);
  }

  void add(const std::string& policy, double ratio) {
    ComparedRun& run = runs.emplace_back();
    run.pipeline = "p";
    run.policy = policy;
    run.decisions = 60;
    run.memory_limit = 100;
    run.figures.ratio_overall = ratio;
    run.figures.ratio_after_30 = 1;
    run.figures.actors = 10;
    run.figures.actors_fewest = 10;
    run.figures.memory_peak = 50;
    run.shortfall.steady = 1 - ratio;
  }
  std::vector<Gap> gaps() const { return gaps_of(runs, {&model, 1}, "intune"); }
  std::string cause() const {
    const auto found = gaps();
    return found.empty() ? "" : found.front().cause;
  }
};

void check_begins(const std::string& text, const std::string& words) {
  INFO(text);
  CHECK(text.starts_with(words));
}

TEST_CASE("the gap is to the rival that is furthest ahead, the oracle left out",
          "[tuner][compare]") {
  Duel duel;
  duel.add("max", 0.93);
  duel.add("oracle", 0.99);
  const auto gaps = duel.gaps();
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].rival == "greedy");
  CHECK(gaps[0].measure == "ratio_overall");
  CHECK(gaps[0].by() == Approx(0.05));
}

TEST_CASE("a thousandth is no gap, and means over seeds count", "[tuner][compare]") {
  Duel duel;
  duel.runs[1].figures.ratio_overall = 0.9005;
  CHECK(duel.gaps().empty());
  duel.runs[1].figures.ratio_overall = 0.95;
  duel.add("intune", 1.0);  // with the first: 0.95
  CHECK(duel.gaps().empty());
}

TEST_CASE("both ratios are looked at, and the largest gap comes first", "[tuner][compare]") {
  Duel duel;
  duel.runs[0].figures.ratio_after_30 = 0.8;
  const auto gaps = duel.gaps();
  REQUIRE(gaps.size() == 2);
  CHECK(gaps[0].measure == "ratio_after_30");
  CHECK(gaps[0].by() == Approx(0.2));
  duel.runs[1].figures.ratio_after_30.reset();  // a run that is too short lacks it
  CHECK(duel.gaps().size() == 1);
}

TEST_CASE("the cause is the part of the time in which most was lost", "[tuner][compare]") {
  Duel duel;
  duel.runs[0].shortfall = {.start = 0.06, .after_events = 0.01, .steady = 0.03, .dead = 0};
  duel.runs[0].figures.decisions_to_95 = 9;
  duel.runs[1].shortfall = {.start = 0.01, .after_events = 0.01, .steady = 0.03, .dead = 0};
  CHECK(duel.cause() ==
        "slow start: 0.050 lost in the first ten periods; at 95 % from decision 9, the other "
        "never");
  duel.runs[0].shortfall = {.start = 0.01, .after_events = 0.06, .steady = 0.03, .dead = 0};
  check_begins(duel.cause(), "after an event: 0.050 lost");
  duel.runs[0].shortfall = {.start = 0, .after_events = 0, .steady = 0, .dead = 0.1};
  duel.runs[0].out_of_memory = true;
  CHECK(duel.cause() == "out of memory in 1 of 1 runs");
}

TEST_CASE("losses between changes are attributed to the cause that the runs show",
          "[tuner][compare]") {
  Duel duel;
  ComparedRun& ours = duel.runs[0];
  check_begins(duel.cause(), "where the actors are: 10.0 actors, the other 10.0, the oracle 10");
  duel.model.stages[1].noise = 0.4;
  check_begins(duel.cause(), "noise: service times vary by up to 40 %");
  ours.figures.actors = 9;
  check_begins(duel.cause(), "fewer actors: 9.0");
  ours.figures.actors = 12;
  check_begins(duel.cause(), "noise");
  duel.model.stages[0].beta = 0.001;
  check_begins(duel.cause(), "contention: 12.0");
  ours.record.guarded = 30;
  check_begins(duel.cause(), "memory: up to 50 % of the limit in use, the guard changed 50 %");
  ours.record.guarded = 0;
  ours.figures.memory_peak = 95;
  check_begins(duel.cause(), "memory: up to 95 %");
}

TEST_CASE("a gap smaller than the seeds differ by is chance", "[tuner][compare]") {
  Duel duel;
  duel.add("intune", 0.98);  // mean 0.94, the other 0.95
  check_begins(duel.cause(), "chance: its seeds differ by 0.080");
}

}  // namespace
}  // namespace forebay::tuner
