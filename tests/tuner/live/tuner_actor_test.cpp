#include "tuner/live/tuner_actor.h"

#include <atomic>
#include <functional>
#include <vector>

#include "core/runtime/actor_host.h"
#include "tests/support/manual_clock.h"
#include "tests/support/test_host.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using namespace std::chrono_literals;
using Times = std::vector<std::chrono::nanoseconds>;

/// One stage; records the times of observations and the applied allocations.
class RecordingPipeline final : public TunedPipeline {
 public:
  explicit RecordingPipeline(const Clock& clock) : clock_(clock) {}

  const PipelineDescription& description() const override { return description_; }
  CurrentState current() const override {
    return {.limits = {.cpus = 4, .memory_bytes = 1 << 20},
            .actors = {actors},
            .leaving = {0},
            .prefetch = 1,
            .prefetched = 0,
            .memory_bytes = 0,
            .resident_bytes = 0};
  }
  Observation observe() override {
    observed.push_back(clock_.now());
    during_observe();
    Observation seen;
    seen.seconds = 1;
    seen.limits = current().limits;
    seen.stages.resize(1);
    seen.stages[0].actors = actors;
    return seen;
  }
  void apply(const Allocation& allocation) override {
    actors = allocation.actors[0];
    applied.push_back(clock_.now());
  }

  std::uint32_t actors = 1;
  Times observed;
  Times applied;
  std::function<void()> during_observe = [] {};

 private:
  const Clock& clock_;
  const PipelineDescription description_{
      .stages = {{.name = "load", .max_actors = 8, .bytes_per_actor = 1}},
      .max_actors = 0,
      .max_prefetch = 4,
      .default_prefetch = 1,
      .prefetch_item_bytes = 1,
      .fixed_bytes = 0,
      .rows_per_split = 1};
};

/// Proposes as many actors as it has made decisions.
class CountingPolicy final : public Policy {
 public:
  std::string_view name() const override { return "counting"; }
  Proposal decide(const Observation&) override {
    ++decisions_;
    return {.allocation = {.actors = {decisions_}, .prefetch = 1},
            .expected_splits_per_second = 0,
            .reason = ""};
  }

 private:
  std::uint32_t decisions_ = 0;
};

TunerActor::Options options_for(RecordingPipeline& tuned_pipeline, const Clock& clock,
                                std::chrono::nanoseconds period) {
  return {.make_tuner =
              [&tuned_pipeline, &clock] {
                return std::make_unique<Tuner>(
                    Tuner::Options{.tuned_pipeline = tuned_pipeline,
                                   .clock = clock,
                                   .policy = std::make_unique<CountingPolicy>(),
                                   .fallback = std::make_unique<CountingPolicy>()});
              },
          .period = period};
}

/// A tuner on a host without threads.
class TunerFixture {
 public:
  explicit TunerFixture(std::chrono::nanoseconds period = 2s) {
    TunerActor::Options options = options_for(tuned_pipeline, host.clock(), period);
    options.present = [this] { return is_present; };
    tuner = start_tuner(host, std::move(options));
    host.deliver_all();
  }

  /// Advances the time in steps of 10 ms.
  void pass(std::chrono::nanoseconds time) {
    for (; time > 0ns; time -= 10ms) {
      host.advance(10ms);
      host.deliver_all();
    }
  }
  TunerStatus status() {
    auto answer = ask(tuner, AskTunerStatus{}, 1s);
    host.deliver_all();
    return answer.wait().value();
  }

  bool is_present = true;
  test::TestHost host;
  RecordingPipeline tuned_pipeline{host.clock()};
  TunerActor::Ref tuner;
};

TEST_CASE_METHOD(TunerFixture, "a tuner decides at whole periods since it began", "[tuner][live]") {
  pass(6500ms);
  CHECK(tuned_pipeline.observed == Times{2s, 4s, 6s});
  CHECK(tuned_pipeline.actors == 3);
  CHECK(status().last->number == 3);
}

TEST_CASE("a tuner's period need not be a whole number of steps", "[tuner][live]") {
  TunerFixture fixture(250ms);
  fixture.pass(1s);
  CHECK(fixture.tuned_pipeline.observed == Times{250ms, 500ms, 750ms, 1s});
}

TEST_CASE_METHOD(TunerFixture, "a late tuner does not make up for missed decisions",
                 "[tuner][live]") {
  pass(1900ms);
  host.advance(4600ms);  // To 6.5 s: the decisions of 2, 4 and 6 s are due.
  host.deliver_all();
  CHECK(tuned_pipeline.observed == Times{6500ms});
  pass(1600ms);
  CHECK(tuned_pipeline.observed == Times{6500ms, 8s});
}

TEST_CASE_METHOD(TunerFixture, "a decision that takes longer than a period puts off the next one",
                 "[tuner][live]") {
  tuned_pipeline.during_observe = [&] { host.advance(2500ms); };
  pass(2s);  // Taken from 2 s to 4.5 s.
  tuned_pipeline.during_observe = [] {};
  pass(1600ms);  // To 6.1 s.
  CHECK(tuned_pipeline.observed == Times{2s, 6s});
}

TEST_CASE_METHOD(TunerFixture, "a tuner that is off observes and changes nothing until it is on",
                 "[tuner][live]") {
  REQUIRE(tuner.tell(SetMode{Mode::kOff}));
  pass(4s);
  CHECK(status().mode == Mode::kOff);
  CHECK(tuned_pipeline.observed.size() == 2);
  CHECK(tuned_pipeline.actors == 1);
  REQUIRE(tuner.tell(SetMode{Mode::kOn}));
  pass(4s);
  CHECK(tuned_pipeline.actors > 1);
}

TEST_CASE("while a tuned pipeline is away nothing is decided, and what it shows is dropped",
          "[tuner][live]") {
  TunerFixture fixture(2s);
  fixture.is_present = false;
  fixture.pass(4s);
  CHECK(fixture.tuned_pipeline.observed == Times{2s, 4s});
  CHECK(fixture.tuned_pipeline.applied.empty());
  CHECK_FALSE(fixture.status().last);
  fixture.is_present = true;
  fixture.pass(2s);
  CHECK(fixture.status().last->number == 1);
}

TEST_CASE_METHOD(TunerFixture, "a stopped tuner does not touch its tuned pipeline again",
                 "[tuner][live]") {
  pass(2s);
  tuner.stop();
  pass(10s);
  CHECK(tuned_pipeline.observed.size() == 1);
  CHECK(host.host().num_living() == 0);
  CHECK_FALSE(tuner.tell(SetMode{Mode::kOn}));
}

TEST_CASE_METHOD(TunerFixture, "a tuner counts the CPU it takes itself", "[tuner][live]") {
  tuned_pipeline.during_observe = [] {
    volatile double sum = 0;
    for (int i = 0; i < 100'000; ++i) sum = sum + 1;
  };
  pass(2s);
  const TunerStatus once = status();
  pass(8s);
  const TunerStatus often = status();
  CHECK(once.cpu_seconds > 0);
  CHECK(often.cpu_seconds > 2 * once.cpu_seconds);  // Five decisions against one.
  CHECK(often.seconds == 10.0);
}

TEST_CASE("a tuner runs on a thread of its own in real time and ends with its system",
          "[tuner][live]") {
  const SystemClock clock;
  RecordingPipeline tuned_pipeline(clock);
  std::atomic<int> decisions{0};
  tuned_pipeline.during_observe = [&] { ++decisions; };
  {
    ActorSystem system({}, clock);
    start_tuner(system, options_for(tuned_pipeline, clock, TunerActor::kStep));
    test::wait_until([&] { return decisions >= 2; });
  }
  const int at_the_end = decisions;
  CHECK(at_the_end >= 2);
  CHECK(tuned_pipeline.observed.size() == static_cast<std::size_t>(at_the_end));
}

}  // namespace
}  // namespace forebay::tuner
