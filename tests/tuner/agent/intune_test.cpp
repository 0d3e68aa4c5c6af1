#include "tuner/agent/intune.h"

#include <algorithm>
#include <limits>

#include "tuner/guard.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/random_pipeline.h"
#include "tuner/sim/simulator.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

std::unique_ptr<Policy> agent_for(const PipelineDescription& description,
                                  Ablation ablation = Ablation::kNone) {
  auto made = Intune::make({.description = description, .ablation = ablation});
  REQUIRE(made);
  return std::move(*made);
}

// Splits/s over the last ten of `decisions` periods.
double tuned_rate(const PipelineModel& model, Policy& policy, int decisions) {
  Simulator simulator(model, 1);
  Guard guard(simulator.description());
  std::uint64_t before = 0;
  for (int i = 1; i <= decisions; ++i) {
    for (int step = 1; step <= 20; ++step) {
      simulator.run_until(2.0 * (i - 1) + 0.1 * step);
      simulator.apply(guard.step(simulator.current()));
    }
    guard.admit(policy.decide(simulator.observe()).allocation, simulator.current());
    simulator.apply(guard.step(simulator.current()));
    if (i == decisions - 10) before = simulator.totals().trained;
  }
  REQUIRE_FALSE(simulator.out_of_memory());
  return static_cast<double>(simulator.totals().trained - before) / 20;
}

TEST_CASE("the agent comes near the oracle on pipelines it has not seen", "[tuner][agent]") {
  double sum = 0;
  constexpr int kPipelines = 12;
  for (std::uint64_t seed = 500; seed < 500 + kPipelines; ++seed) {
    const PipelineModel model = random_pipeline(seed);
    const auto policy = agent_for(description_of(model));
    const double ratio = tuned_rate(model, *policy, 30) / oracle_of(model).splits_per_second;
    INFO("pipeline " << seed);
    CHECK(ratio > 0.85);
    sum += ratio;
  }
  CHECK(sum / kPipelines > 0.96);
}

TEST_CASE("the same observations make the same decisions", "[tuner][agent]") {
  const PipelineModel model = random_pipeline(42);
  const auto one = agent_for(description_of(model));
  const auto other = agent_for(description_of(model));
  CHECK(tuned_rate(model, *one, 20) == tuned_rate(model, *other, 20));
}

TEST_CASE("a network that gives no numbers is left out, and the decision records it",
          "[tuner][agent]") {
  Agent agent(description_of(random_pipeline(42)), RewardMode::kUsable, Ablation::kNone);
  Network broken(kNetworkShape);
  broken.weights().assign(broken.weights().size(), std::numeric_limits<float>::quiet_NaN());
  Simulator simulator(random_pipeline(42), 1);
  simulator.run_until(2);
  agent.observe(simulator.observe(), broken);
  agent.choose();
  CHECK_FALSE(agent.sane());
  CHECK(agent.allocation(agent.actions()) == agent.base().allocation);
}

TEST_CASE("an agent with learned state knows the costs from its first decision on",
          "[tuner][agent]") {
  const PipelineModel model = random_pipeline(43);
  const auto first = agent_for(description_of(model));
  tuned_rate(model, *first, 30);
  const auto again = agent_for(description_of(model));
  REQUIRE(again->restore(first->learned_state()));
  CHECK(tuned_rate(model, *again, 11) >
        0.9 * oracle_of(model).splits_per_second);  // from decision 1 to 11
}

TEST_CASE("learned state of another pipeline is refused", "[tuner][agent]") {
  const auto first = agent_for(description_of(random_pipeline(43)));
  PipelineDescription other = description_of(random_pipeline(43));
  other.stages[0].name = "renamed";
  CHECK_FALSE(agent_for(other)->restore(first->learned_state()));
}

TEST_CASE("learned state that is refused does not change the agent", "[tuner][agent]") {
  const PipelineModel model = random_pipeline(45);
  const auto first = agent_for(description_of(model));
  tuned_rate(model, *first, 10);
  auto learned_state = decode_learned_state(first->learned_state(), description_of(model)).value();
  learned_state.last_layer.pop_back();
  const auto again = agent_for(description_of(model));
  const std::string before = again->learned_state();
  CHECK_FALSE(again->restore(encode_learned_state(learned_state)));
  CHECK(again->learned_state() == before);
}

TEST_CASE("every ablation tunes", "[tuner][agent]") {
  const PipelineModel model = random_pipeline(44);
  for (const Ablation ablation : {Ablation::kNetwork, Ablation::kModel, Ablation::kPretraining,
                                  Ablation::kOnline, Ablation::kGate, Ablation::kExploration}) {
    const auto policy = agent_for(description_of(model), ablation);
    CHECK(tuned_rate(model, *policy, 15) > 0);
  }
}

/// Counts the decisions that change what stands.
class Counted final : public Policy {
 public:
  explicit Counted(Policy& policy) : policy_(policy) {}
  std::string_view name() const override { return policy_.name(); }
  Proposal decide(const Observation& seen) override {
    Proposal proposal = policy_.decide(seen);
    changes += proposal.allocation == seen.allocation() ? 0 : 1;
    return proposal;
  }
  int changes = 0;

 private:
  Policy& policy_;
};

TEST_CASE("without the model the network decides, though the costs explain the rate",
          "[tuner][agent]") {
  // An actor a stage does what its costs say, so a gate of the model would stay closed.
  int changes = 0;
  for (std::uint64_t seed = 500; seed < 510; ++seed) {
    const PipelineModel model = random_pipeline(seed);
    const auto policy = agent_for(description_of(model), Ablation::kModel);
    Counted counted(*policy);
    tuned_rate(model, counted, 20);
    changes += counted.changes;
  }
  CHECK(changes > 100);  // of 200
}

TEST_CASE("with the gate open the network is asked where the costs explain the rate",
          "[tuner][agent]") {
  // A network that always promises a per cent for one actor more, whatever it sees.
  Network eager(kNetworkShape);
  eager.weights()[eager.weights().size() - kOutputs + 2] = 1;
  const PipelineModel model = random_pipeline(42);
  for (const Ablation ablation : {Ablation::kNone, Ablation::kGate}) {
    Agent agent(description_of(model), RewardMode::kUsable, ablation);
    Simulator simulator(model, 1);
    simulator.run_until(2);
    agent.observe(simulator.observe(), eager);
    REQUIRE(agent.known().shortfall() < 0.02);
    const auto& steps = agent.choose().steps;
    const bool asked = std::ranges::count(steps, 3) == static_cast<std::ptrdiff_t>(steps.size());
    CHECK(asked == (ablation == Ablation::kGate));
  }
}

TEST_CASE("missing weights are an error that names the file", "[tuner][agent]") {
  const auto made =
      Intune::make({.description = description_of(random_pipeline(1)), .weights = "/nowhere/w"});
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("/nowhere/w") != std::string::npos);
}

}  // namespace
}  // namespace forebay::tuner
