#include "tuner/tuner.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/support/manual_clock.h"
#include "tests/tuner/late_pipeline.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

/// Makes the proposal that a test sets.
class RecordingPolicy final : public Policy {
 public:
  RecordingPolicy(std::string name, Proposal proposal)
      : name_(std::move(name)), next(std::move(proposal)) {}
  std::string_view name() const override { return name_; }
  Proposal decide(const Observation&) override {
    ++asked;
    if (throws) throw std::runtime_error("no idea");
    if (throws_a_number) throw 7;
    return next;
  }

 private:
  std::string name_;

 public:
  Proposal next;
  bool throws = false;
  bool throws_a_number = false;
  int asked = 0;
};

struct Bench {
  Bench(Mode mode = Mode::kOn)  // NOLINT: a test's shorthand.
      : tuned_pipeline(description(), {.cpus = 2, .memory_bytes = 100}, {{1, 1}, 1}) {
    auto asked = std::make_unique<RecordingPolicy>("told", Proposal{{{3, 2}, 2}, 7, "because"});
    auto spare = std::make_unique<RecordingPolicy>("spare", Proposal{{{2, 2}, 1}, 5, "careful"});
    policy = asked.get();
    fallback = spare.get();
    tuner =
        std::make_unique<Tuner>(Tuner::Options{.tuned_pipeline = tuned_pipeline,
                                               .clock = clock,
                                               .policy = std::move(asked),
                                               .fallback = std::move(spare),
                                               .mode = mode,
                                               .on_decision = [this](const Decision&) { ++told; }});
  }

  static PipelineDescription description() {
    PipelineDescription description{.max_prefetch = 4, .prefetch_item_bytes = 5};
    description.stages = {{"a", 8, 10}, {"b", 8, 10}};
    return description;
  }

  test::ManualClock clock;
  LatePipeline tuned_pipeline;
  RecordingPolicy* policy = nullptr;
  RecordingPolicy* fallback = nullptr;
  std::unique_ptr<Tuner> tuner;
  int told = 0;
};

}  // namespace

TEST_CASE("a decision is applied at once as far as memory allows", "[tuner]") {
  Bench bench;
  const Decision decision = bench.tuner->decide();
  CHECK(decision.number == 1);
  CHECK(decision.policy == "told");
  CHECK(decision.applied == Allocation{{3, 2}, 2});
  CHECK(decision.fault.empty());
  CHECK(bench.tuned_pipeline.wanted() == Allocation{{3, 2}, 2});
  CHECK(bench.told == 1);
}

TEST_CASE("a decision holds the rate that the decision before it expected", "[tuner]") {
  Bench bench;
  CHECK(bench.tuner->decide().expected_before == 0);
  CHECK(bench.tuner->decide().expected_before == 7);
}

TEST_CASE("mode advise applies no proposal and enforces limits", "[tuner]") {
  Bench bench(Mode::kAdvise);
  bench.tuned_pipeline.apply({{4, 4}, 2});
  bench.tuner->set_mode(Mode::kOn);
  bench.tuner->set_mode(Mode::kAdvise);
  const Decision decision = bench.tuner->decide();
  CHECK(decision.proposal.allocation == Allocation{{3, 2}, 2});
  CHECK(decision.applied == Allocation{{4, 4}, 2});
  bench.tuner->step();
  CHECK(bench.tuned_pipeline.wanted() == Allocation{{4, 4}, 2});
  bench.tuned_pipeline.set_limits({.cpus = 2, .memory_bytes = 45});
  bench.tuner->step();
  CHECK(bench.tuned_pipeline.wanted() == Allocation{{2, 2}, 1});  // 2 * 10 + 2 * 10 + 5
}

TEST_CASE("mode off observes and changes nothing", "[tuner]") {
  Bench bench(Mode::kOff);
  bench.tuned_pipeline.set_limits({.cpus = 2, .memory_bytes = 1});
  CHECK(bench.tuner->decide().number == 0);
  bench.tuner->step();
  CHECK(bench.policy->asked == 0);
  CHECK(bench.tuned_pipeline.applied == 0);
  CHECK(bench.told == 0);
}

TEST_CASE("a policy that throws or proposes nonsense is overruled", "[tuner]") {
  Bench bench;
  std::string fault;
  SECTION("it throws") {
    bench.policy->throws = true;
    fault = "told threw: no idea";
  }
  SECTION("it throws a value that is not an exception") {
    bench.policy->throws_a_number = true;
    fault = "told threw";
  }
  SECTION("too few stages") {
    bench.policy->next.allocation.actors = {1};
    fault = "told proposes 1 stages of 2";
  }
  SECTION("a stage without actors") {
    bench.policy->next.allocation.actors = {0, 1};
    fault = "told proposes a stage without actors";
  }
  SECTION("no prefetch") {
    bench.policy->next.allocation.prefetch = 0;
    fault = "told proposes a prefetch of 0";
  }
  SECTION("a rate that is not a number") {
    bench.policy->next.expected_splits_per_second = std::nan("");
    fault = "told expected_splits_per_second must be finite and at least 0";
  }
  const Decision decision = bench.tuner->decide();
  CHECK(decision.policy == "fallback");
  CHECK(decision.fault == fault);
  CHECK(bench.tuned_pipeline.wanted() == Allocation{{2, 2}, 1});
}

TEST_CASE("after three faults in a row the policy is not asked again", "[tuner]") {
  Bench bench;
  bench.policy->throws = true;
  bench.tuner->decide();
  bench.tuner->decide();
  bench.policy->throws = false;
  bench.tuner->decide();  // the row is broken
  bench.policy->throws = true;
  for (int i = 0; i < 3; ++i) bench.tuner->decide();
  bench.policy->throws = false;
  CHECK(bench.tuner->decide().fault == "told is not asked after 3 faults in a row");
  CHECK(bench.policy->asked == 6);
}

TEST_CASE("where the fallback fails too, the current allocation stays", "[tuner]") {
  Bench bench;
  bench.policy->throws = true;
  bench.fallback->throws = true;
  const Decision decision = bench.tuner->decide();
  CHECK(decision.applied == Allocation{{1, 1}, 1});
  CHECK(decision.fault == "told threw: no idea; fallback: threw: no idea");
}

}  // namespace forebay::tuner
