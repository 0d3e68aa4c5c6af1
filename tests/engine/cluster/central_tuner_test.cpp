#include "engine/cluster/central_tuner.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cluster/node_tuners.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_host.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

AskDecision report_from(const std::string& node, std::size_t stages = 2) {
  AskDecision asked;
  asked.node = node;
  asked.limits = {.cpus = 4, .memory_bytes = std::uint64_t{1} << 30};
  asked.seen = {.at_seconds = 2, .seconds = 2, .limits = asked.limits};
  for (std::size_t i = 0; i < stages; ++i) {
    asked.description.stages.push_back({.name = "s" + std::to_string(i), .max_actors = 16});
    asked.seen.stages.push_back({.actors = 1,
                                 .actor_seconds = 2,
                                 .working_seconds = 2,
                                 .cpu_seconds = 2,
                                 .done = 40,
                                 .done_seconds = 2,
                                 .done_seconds_squared = 0.1,
                                 .done_cpu_seconds = 2,
                                 .done_actors = 40});
  }
  asked.seen.trainer_steps = 40;
  return asked;
}

struct Central {
  std::vector<std::size_t> nodes;        ///< Of each decision.
  tuner::TrainerReport trainer;          ///< Of the last one.
  std::optional<std::uint32_t> advised;  ///< Threads, by the last one.
  CentralTuner tuner{{.period = 2s,
                      .own = "local",
                      .on_decision = [this](const tuner::ClusterReport& report,
                                            const tuner::ClusterAdvice& advice) {
                        nodes.push_back(report.nodes.size());
                        trainer = report.trainer;
                        advised = advice.threads;
                      }}};
};

TEST_CASE("one decision a period answers all nodes", "[engine][central_tuner]") {
  Central central;
  CHECK(central.tuner.advise(report_from("local"), 10s).number == 1);
  CHECK(central.tuner.advise(report_from("a"), 10s).number == 2);  // Its first: at once.
  CHECK(central.tuner.advise(report_from("a"), 11s).number == 2);
  CHECK(central.tuner.advise(report_from("local"), 12s).number == 3);
  CHECK(central.tuner.advise(report_from("a"), 12s).number == 3);
  CHECK(central.nodes == std::vector<std::size_t>{1, 2, 2});
}

/// A trainer at `at` that has ended so many steps, half a split and 0.1 s each, with two threads.
TrainerSeen trainer_at(std::chrono::nanoseconds at, std::uint64_t steps) {
  return {.at = at,
          .waited = at - steps * 100ms,
          .steps = steps,
          .worked = steps * 100ms,
          .splits = 0.5 * static_cast<double>(steps),
          .threads = 2,
          .most_threads = 3};
}

TEST_CASE("a decision rests on what the trainer trains on while it does not wait",
          "[engine][central_tuner]") {
  Central central;
  central.tuner.observe(trainer_at(10s, 50));
  static_cast<void>(central.tuner.advise(report_from("local"), 10s));
  CHECK(central.trainer.able == 0);  // Not known before the second one.
  central.tuner.observe(trainer_at(12s, 60));
  static_cast<void>(central.tuner.advise(report_from("local"), 12s));
  CHECK(central.trainer.seconds == Approx(2));
  CHECK(central.trainer.waited_seconds == Approx(1));
  CHECK(central.trainer.able == Approx(5));  // Ten steps of half a split in a second of work.
  CHECK(central.trainer.threads == 2);
  CHECK(central.trainer.most_threads == 3);
  CHECK(central.advised == 2U);
  central.tuner.observe(trainer_at(14s, 60));  // A step that lasts longer than the period.
  static_cast<void>(central.tuner.advise(report_from("local"), 14s));
  CHECK(central.trainer.able == 0);
}

TEST_CASE("asking twice gives the same advice twice", "[engine][central_tuner]") {
  Central central;
  const Advised first = central.tuner.advise(report_from("a"), 10s);
  const Advised again = central.tuner.advise(report_from("a"), 10s);
  CHECK(first.number == again.number);
  CHECK(first.proposal.allocation == again.proposal.allocation);
}

TEST_CASE("a node that has not reported for three periods is not planned with",
          "[engine][central_tuner]") {
  Central central;
  static_cast<void>(central.tuner.advise(report_from("a"), 10s));
  static_cast<void>(central.tuner.advise(report_from("b"), 16s));
  static_cast<void>(central.tuner.advise(report_from("b"), 18s));
  CHECK(central.nodes == std::vector<std::size_t>{1, 2, 1});
}

TEST_CASE("a node with other stages than the others is refused", "[engine][central_tuner]") {
  Central central;
  static_cast<void>(central.tuner.advise(report_from("a"), 10s));
  CHECK_THROWS(central.tuner.advise(report_from("b", 3), 10s));
  CHECK(central.tuner.advise(report_from("a"), 12s).number == 2);
}

/// Proposes three actors a stage, and counts what it has seen.
class Own final : public tuner::Policy {
 public:
  explicit Own(int& seen) : seen_(seen) {}
  std::string_view name() const override { return "own"; }
  tuner::Proposal decide(const tuner::Observation& seen) override {
    ++seen_;
    tuner::Allocation three = seen.allocation();
    for (std::uint32_t& actors : three.actors) actors = 3;
    return {.allocation = three, .reason = "three"};
  }

 private:
  int& seen_;
};

/// A node whose central tuner can be taken away.
struct SilencedNode {
  SilencedNode() {
    policy = std::make_unique<CentralPolicy>(
        CentralPolicy::Options{.question = report_from("a"),
                               .name = "intune",
                               .tuners = [this] { return tuners; },
                               .own = std::make_unique<Own>(own_saw),
                               .link = {},
                               .obey = [this](const Advised& advised) { fed = advised.fed; },
                               .say = [this](const std::string& line) { said.push_back(line); }});
  }
  tuner::Proposal decide() { return policy->decide(report_from("a").seen); }

  TunersRef tuners;  // Nobody, at first.
  int own_saw = 0;
  bool fed = false;  // As the central tuner had told it.
  std::vector<std::string> said;
  std::unique_ptr<CentralPolicy> policy;
};

TEST_CASE("a node tunes itself after five periods without an answer, and says so",
          "[engine][central_tuner]") {
  SilencedNode node;
  for (int i = 1; i < CentralPolicy::kSilent; ++i) {
    CHECK(node.decide().allocation.actors == std::vector<std::uint32_t>{1, 1});  // What stands.
    CHECK(node.said.empty());
    CHECK_FALSE(node.fed);
  }
  CHECK(node.decide().allocation.actors == std::vector<std::uint32_t>{3, 3});
  CHECK(node.own_saw == 5);  // It has watched from the first period.
  CHECK(node.fed);           // It takes splits again.
  REQUIRE(node.said.size() == 1);
  CHECK(node.said.front() ==
        "the trainer's tuner has been silent for 5 periods; this node tunes itself");
  CHECK(node.decide().reason == "alone: three");
  CHECK(node.said.size() == 1);
}

}  // namespace
}  // namespace forebay
