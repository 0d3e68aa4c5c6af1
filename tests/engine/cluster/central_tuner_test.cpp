#include "engine/cluster/central_tuner.h"

#include <memory>
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
  std::vector<std::size_t> nodes;  ///< Of each decision.
  CentralTuner tuner{
      {.period = 2s,
       .own = "local",
       .on_decision = [this](const tuner::ClusterReport& report, const tuner::ClusterAdvice&) {
         nodes.push_back(report.nodes.size());
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
                               .tuners = [] { return TunersRef(); },
                               .own = std::make_unique<Own>(own_saw),
                               .link = {},
                               .obey = [this](const Advised& advised) { fed = advised.fed; },
                               .say = [this](const std::string& line) { said.push_back(line); }});
  }
  tuner::Proposal decide() { return policy->decide(report_from("a").seen); }

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
        "the central tuner has been silent for 5 periods; this node tunes itself");
  CHECK(node.decide().reason == "alone: three");
  CHECK(node.said.size() == 1);
}

}  // namespace
}  // namespace forebay
